//! Day 28, fused attention: the reference solutions, and samples that the grader is tested with.

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

fusion_course::answers_to_day28!("solutions/day28/src");
