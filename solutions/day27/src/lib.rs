//! Day 27, tensor cores: the reference solutions, and samples that the grader is tested with.

// Launching a kernel is unsafe.
#![allow(unsafe_code)]

#[cfg(test)]
#[path = "../../files.rs"]
mod files;
#[path = "../../samples.rs"]
mod samples;
#[path = "../../top.rs"]
mod top;

pub use samples::samples;
pub use top::top;

fusion_course::answers_to_day27!("solutions/day27/src");
