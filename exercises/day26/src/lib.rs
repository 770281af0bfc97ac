//! Day 26, occupancy, and when not to fuse: your kernels (`*.cu`) and their launches (`*.rs`).
//!
//! Write what the `TODO` comments of both files ask for, then run `cargo xtask grade day26`.

// Launching a kernel is unsafe, and takes an argument for each buffer.
#![allow(unsafe_code, clippy::too_many_arguments)]

fusion_course::answers_to_day26!("exercises/day26/src");
