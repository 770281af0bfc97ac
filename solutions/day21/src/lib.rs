//! Day 21, warm-up: the reference solution, and samples that the grader is tested with.

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

fusion_course::answers_to_day21!("solutions/day21/src");
