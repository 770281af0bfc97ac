//! The machine from outside: kernels run, wrong kernels are found out.
//!
//! The `.ptx` files beside are what NVRTC 13.0 makes of the `.cu` files (`-arch=compute_90 -lineinfo -default-device`).

#![allow(clippy::unwrap_used)]

mod advice;
mod arithmetic;
mod assembled;
mod clusters;
mod control;
mod counters;
mod dry;
mod faults;
mod handwritten;
mod hostile;
mod init;
mod kernels;
mod orders;
mod profiles;
mod races;
mod runtime;
mod shared;
mod strips;
mod support;
mod unfinished;
mod waiting;
mod warpgroup;
