//! Judges submissions: are they *right*, *lean* and *fast*?
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod judgement;
pub mod protocol;
pub mod render;
pub mod statistics;

mod explain;
mod memory;
mod panics;
mod problem;
mod session;
mod trouble;
