//! Execution: a launch's blocks on the host's cores, a block's warps in turn, a warp's lanes at once.

mod atomic;
mod block;
pub(crate) mod builtin;
mod bypass;
mod call;
mod collective;
pub(crate) mod fault;
mod finding;
mod generic;
mod global;
mod grid;
mod heap;
mod init;
mod lanes;
mod lint;
mod local;
mod paged;
mod param;
mod race;
mod shared;
mod slow;
mod step;
mod tally;
mod trace;
mod trap;
mod warp;
mod watch;
mod window;

pub(crate) use finding::{Finding, Findings, Site};
pub(crate) use grid::{Outcome, Run, Stopped, run};
pub(crate) use race::Shadow;
pub(crate) use tally::{Parting, Requests, Row, Stride, Tally, WIDEST, Who};
pub(crate) use trap::{Party, Trap};
