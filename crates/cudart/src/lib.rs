//! A CUDA runtime (`libcudart`) on the driver API, for C++ programs that `nvcc -cudart shared` has built to PTX.
//!
//! NVIDIA's own runtime talks to the driver through tables that it keeps to itself (`cuGetExportTable`), so that it does not run on the
//! emulated driver. This one does what programs ask of a runtime with what `cuda.h` documents: it registers fat binaries, loads them when
//! they are first needed, and passes the rest on. Most functions are the driver's under another name (`forward.rs`), and so are
//! most error codes.
//!
//! What is missing exists, says so once, and answers `cudaErrorNotSupported` (`unsupported.rs`).

// The C boundary: pointers come from C, and the driver's functions are found by name.
#![allow(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod boundary;
mod copy;
mod device;
mod error;
mod forward;
mod function;
mod launch;
mod memory;
mod per_thread;
mod properties;
mod registry;
mod unsupported;
