//! Day 25, vectorization: the reference solutions, and wrong kernels that the grader must refuse.

// Launching a kernel is unsafe.
#![allow(unsafe_code)]

#[cfg(test)]
#[path = "../../files.rs"]
mod files;
#[path = "../../top.rs"]
mod top;
#[path = "../../wrong.rs"]
mod wrong;

pub use top::top;
pub use wrong::wrong;

fusion_course::answers_to_day25!("solutions/day25/src");
