//! Problems of the course on a device: their buffers are filled and poisoned, what runs on them is timed, and what came
//! out is compared, for the grader and the lessons alike; medians of times; and the unfused chain that all else is
//! compared with.
//!
//! [`Baseline`] runs the chain of any exercise from its specification's steps: one kernel of `kernels/unfused/*.cu` for
//! each step, each of which writes its whole result to global memory.

mod baseline;
mod clock;
mod flush;
mod gemm;
mod hold;
pub mod memory;
mod problem;
mod sources;
pub mod statistics;
mod values;

pub use baseline::Baseline;
pub use clock::Clock;
pub use flush::Flush;
pub use gemm::{LibraryGemm, Multiplier, TiledGemm};
pub use hold::Hold;
pub use problem::Problem;
pub use sources::{headers, includes, ladder, load, rivals, timing, unfused};
pub use values::{Periods, Place, Seen, Tables, Values, buffers, dry_period, intermediates, tables};
