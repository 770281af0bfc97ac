//! Execution: a launch's blocks on the host's cores, a block's warps in turn, a warp's lanes at once.

mod check;
mod context;
pub(crate) mod fault;
mod grid;
mod memory;
mod state;
mod step;
mod sync;

#[cfg(test)]
pub(crate) use check::AtMbarrier;
pub(crate) use check::{AtBarrier, Line, Path, Phase, Recording, Step};
pub(crate) use check::{Parting, Requests, Row, Shadow, Stride, Tally, WIDEST, Who};
pub(crate) use fault::finding::{Finding, Findings, Site};
pub(crate) use fault::trap::{Party, Trap};
pub(crate) use grid::{Outcome, Stopped, run};
pub(crate) use state::run::Run;
pub(crate) use step::builtin;
