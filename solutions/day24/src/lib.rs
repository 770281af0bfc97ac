//! Day 24, vLLM-style patterns: the reference solutions, and wrong kernels that the grader must refuse.

// Launching a kernel is unsafe, and takes an argument for each buffer.
#![allow(unsafe_code, clippy::too_many_arguments)]

#[cfg(test)]
#[path = "../../files.rs"]
mod files;
#[path = "../../top.rs"]
mod top;
#[path = "../../wrong.rs"]
mod wrong;

pub use top::top;
pub use wrong::wrong;

fusion_course::answers_to_day24!("solutions/day24/src");
