//! A fuzzer for the PTX front end and the emulated GPU, on stable Rust.
//!
//! An [`Input`] is a PTX text and a seed, from which its launches follow. [`generate`] makes modules that
//! are mostly right, so that they run deep; [`mutate`] damages whatever is there. [`check`] runs one
//! input and says which promise it broke, if any: no panic, no hang, no waste of memory, the same
//! result every time, on any number of workers, and with the checks on or off. [`Session`] does so in a loop,
//! keeps the inputs that reach what none before has reached, and makes what it finds small.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod coverage;
mod finding;
mod generate;
mod input;
mod launch;
mod minimise;
mod mutate;
mod oracle;
mod seeds;
mod session;

pub use coverage::{Coverage, Feature};
pub use finding::{Finding, Kind, watch_panics};
pub use generate::generate;
pub use input::Input;
pub use minimise::minimise;
pub use mutate::{mutate, noise, splice};
pub use oracle::{Observed, check};
pub use seeds::seeds;
pub use session::{Session, Settings, Status};
