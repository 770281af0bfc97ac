//! Small CUDA C++ kernels with one mistake each, near misses without it, and the report that each must get.
//!
//! A kernel is a file `kernels/CLASS/NAME.cu` whose leading comment says how it is launched and what must be found
//! ([`Case`]); the report that a learner reads stands beside it in `NAME.report`. The files are compiled into the
//! program, so that the same cases run on a machine with a GPU and nothing else, under NVIDIA's own checker.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod case;
mod report;
mod runner;
pub mod sanitizer;
mod session;
mod suite;

pub use case::{Case, Checks, Copy, Expected, ParseError, Step};
pub use report::{codes, text};
pub use runner::{Failure, Outcome};
pub use session::{Session, run_source};
pub use suite::SUITE;
