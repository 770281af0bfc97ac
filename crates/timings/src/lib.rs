//! Kernels that are timed on real GPUs, and their times.
//!
//! A file of `kernels/` has kernels, and in its leading comment says how they are launched and over which sizes ([`Case`]). Every
//! launch at every size is a [`Point`]; [`Stopwatch`] times one. The files are compiled into the program, so that it runs on a machine
//! with a GPU and nothing else, and on the emulated device, whose times are predicted.
//!
//! What was measured is stored ([`h200`]), and [`validate`] compares it with what the machine's clock says of the same launches, which
//! takes a few blocks of each and no GPU.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod calibrate;
mod case;
mod contents;
mod expression;
mod gpu;
mod measured;
mod parallel;
mod predict;
mod predicted;
mod record;
mod stopwatch;
mod suite;
mod sweep;
mod validate;

pub use calibrate::{Calibration, Fit, Fitted, fits};
pub use case::{Case, ParseError, Point};
pub use fusion_suite::Launch;
pub use gpu::Gpu;
pub use measured::{H200_VERDICTS, h200, is_held_out, read, stored};
pub use predict::{Predictor, Unpredicted};
pub use predicted::{H200_PREDICTED_VERDICTS, predicted, prediction};
pub use record::{Cache, Record};
pub use stopwatch::{Failure, Stopwatch};
pub use suite::cases;
pub use validate::{BARS, Bar, Compared, Errors, Role, compared, validate};
