//! A drop-in CUDA driver: the driver API of `cuda.h`, on the emulated GPU.
//!
//! The product of this crate is its shared library, whose SONAME is `libcuda.so`: a program that has opened
//! it by path before it first uses CUDA runs on the emulated GPU unchanged. Nothing here is meant
//! for Rust callers; the functions beside the driver API, which our own tools use, are in `report.rs`.
//!
//! Work runs at once, on the calling thread; streams and events keep a modelled clock. The one piece
//! of global state is the driver itself, for that is what the C API is about.
//!
//! `FUSION_EMULATED_GPU` chooses the GPU, `FUSION_EMULATOR_CHECKS` which checks are made, `FUSION_EMULATOR_BUDGET`
//! how many warp instructions a launch may execute, and `FUSION_EMULATOR_QUIET=1` silences stderr. `FUSION_EMULATOR_JOURNAL` names
//! a folder: what happens is written there, into a file of each process, instead of being said on stderr.

// The C boundary: every pointer that crosses it is followed in an `unsafe` block with its reason.
#![allow(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod assemble;
mod attribute;
mod backing;
mod boundary;
mod capture;
mod clock;
mod context;
mod copy;
mod device;
mod driver;
mod error;
mod event;
mod ffi;
mod function;
mod graph;
mod host;
mod image;
mod jit;
mod launch;
mod link;
mod memory;
mod memset;
mod module;
mod occupancy;
mod operation;
mod order;
mod peek;
mod pending;
mod pointer;
mod pool;
mod profiler;
mod report;
mod site;
mod stream;
mod symbols;
mod tensor_map;
mod unsupported;
