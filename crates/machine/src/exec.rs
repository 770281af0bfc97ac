//! Execution: a launch's blocks on the host's cores, a block's warps in turn, a warp's lanes at once.

mod atomic;
mod block;
mod builtin;
mod call;
mod collective;
mod fault;
mod generic;
mod global;
mod grid;
mod lanes;
mod local;
mod param;
mod shared;
mod slow;
mod step;
mod trap;
mod warp;
mod window;

pub(crate) use grid::{Outcome, Run, Stopped, run};
