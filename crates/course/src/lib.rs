//! What an exercise is, and the specification of every exercise of the course.
//!
//! A *specification* ([`Exercise`]) is the one place that says what an operation means: its
//! signature, its steps when nothing is fused, a host reference in f64, shapes, tolerances, the
//! bar and the hints. Learners do not edit it. A *submission* ([`Entry`]) is somebody's answer: a
//! CUDA source and a launch function of the specified signature. Starters, reference solutions and
//! deliberately wrong kernels are all submissions, called in the same way.
//!
//! To add an exercise, add `dayNN/<name>.rs` and its hints `<name>.md` here, `<name>.cu` and `<name>.rs` to the day's
//! starter and solution crates, and the name to the list in `dayNN.rs`.

mod arguments;
mod attention;
mod compare;
mod data;
mod day;
mod e4m3;
mod errors;
mod exercise;
mod gemm;
mod inputs;
pub mod paged;
mod rounding;
mod routing;
mod sample;
mod shape;
mod signature;
mod step;
mod submission;
mod suspect;

pub mod day21;
pub mod day22;
pub mod day23;
pub mod day24;
pub mod day25;
pub mod day26;
pub mod day27;
pub mod day28;
pub mod drift;
pub mod worked;

pub use arguments::{Arguments, DeviceBuffer};
pub use compare::Mismatch;
pub use data::{DType, Data};
pub use day::{DaySpec, days, find};
pub use e4m3::E4m3;
pub use errors::Errors;
pub use exercise::{
    Access, Case, Each, Exercise, Extent, Hint, Param, Reference, Rival, Rung, Scalar, Tolerance, Width,
};
pub use gemm::{Gemm, GemmSizes, NoGemm};
pub use inputs::Inputs;
pub use routing::{CHOICES, Routing};
pub use sample::Sample;
pub use shape::{Shape, Shapes};
pub use step::{Piece, ScalarArg, Step, Threads, Work};
pub use submission::{Bound, Entry, Source, Submission};
pub use suspect::{Mistaken, Suspect};

/// What the macros of this crate expand to names of.
#[doc(hidden)]
pub mod macros {
    pub use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError};
    pub use std::sync::Arc;

    use crate::Param;

    /// Of an exercise's buffers those that a launch function is given.
    pub fn given<B>(params: &'static [Param], buffers: impl Iterator<Item = B>) -> impl Iterator<Item = B> {
        params.iter().zip(buffers).filter(|(param, _)| !param.behind).map(|(_, buffer)| buffer)
    }
}
