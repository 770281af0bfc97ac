//! The emulated GPU: it executes a parsed PTX module, 32 lanes at a time, over a memory of its own.
//!
//! No I/O, no global state, no panic: whatever a kernel does wrong comes back as a [`Fault`].
//! The reference is NVIDIA's *PTX ISA* manual, whose section numbers the docs quote.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod arith;
mod code;
mod exec;
mod lower;
mod machine;
mod memory;
pub mod occupancy;
pub mod profile;
pub mod report;
pub mod tensor;
pub mod timing;

pub use machine::{
    Assemble, Assembled, Checks, Footprint, Kernel, KernelInfo, Launch, Limits, LoadError, Loaded, Machine, Options,
    ParamInfo, Resources, Span, Tracing, UnknownCheck, thresholds,
};
pub use memory::{AccessError, Allocation, AllocationKind, Memory, OutOfMemory};
pub use profile::{Profile, ProfileError};
pub use report::{Argument, Counters, Fault, LaunchReport, Report, Severity};
