//! Day 26, occupancy, and when not to fuse: the reference solutions, and samples that the grader is tested with.

// Launching a kernel is unsafe, and takes an argument for each buffer.
#![allow(unsafe_code, clippy::too_many_arguments)]

#[cfg(test)]
#[path = "../../files.rs"]
mod files;
#[path = "../../samples.rs"]
mod samples;
#[path = "../../top.rs"]
mod top;

pub use samples::samples;
pub use top::top;

fusion_course::answers_to_day26!("solutions/day26/src");
