//! What the lessons share: they show an operation as a chain of kernels and as one, over a sweep of
//! sizes, with launches, bytes, times and the share of what the device can do.
//!
//! Times are measured with events on a real GPU. On the emulated device the same events carry the
//! model's times, and every table that shows them says *predicted*.

mod bench;
mod device;
mod options;
mod output;
mod problem;
mod setup;
mod size;
mod subject;
mod table;

pub use bench::{Point, Sweep};
pub use device::{launches, times, timing, use_compiler};
pub use fusion_baseline::Clock;
pub use options::{Options, Selection, profile};
pub use output::print;
pub use problem::check;
pub use setup::{Lesson, LessonError};
pub use size::Size;
pub use subject::Subject;
pub use table::{duration, grouped, new_table};
