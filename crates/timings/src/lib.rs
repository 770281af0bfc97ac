//! Kernels that are timed on real GPUs, and their times.
//!
//! A file of `kernels/` has kernels, and in its leading comment says how they are launched and over which sizes ([`Case`]). Every
//! launch at every size is a [`Point`]; [`Stopwatch`] times one. The files are compiled into the program, so that it runs on a machine
//! with a GPU and nothing else, and on the emulated device, whose times are predicted.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod case;
mod expression;
mod measured;
mod record;
mod stopwatch;
mod suite;
mod sweep;

pub use case::{Case, ParseError, Point};
pub use measured::{h200, is_held_out};
pub use record::{Cache, Record};
pub use stopwatch::{Failure, Stopwatch, contents};
pub use suite::cases;
