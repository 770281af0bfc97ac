//! Judges submissions: are they *right*, *lean* and *fast*?
//!
//! Two programs use this crate. A *worker* ([`worker::main`]) is the main function of every crate of answers: it
//! judges one of its own submissions on one device, where a crash or a hang harms nobody else, and says what it found
//! as [`protocol::Message`]s. `xtask` starts workers, reads their [`judgement::Judgement`]s, and shows them with
//! [`render`].
//!
//! How a submission is judged: [`judgement::Right`] at every shape against a reference in f64, with poisoned outputs;
//! [`judgement::Lean`] by the emulated device's counters; [`judgement::Fast`] by pairs of timed launches next to the
//! unfused chain.
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod cause;
mod explain;
mod fast;
mod known;
mod lean;
mod panics;
mod problem;
mod rig;
mod right;
mod session;
mod site;
mod survey;
mod trial;
mod trouble;

pub mod bench;
#[cfg(unix)]
pub mod class;
pub mod judgement;
pub mod play;
pub mod profile;
pub mod protocol;
pub mod render;
pub mod statistics;
pub mod takes;
pub mod verdicts;
pub mod worker;

pub use worker::{main, main_with};
