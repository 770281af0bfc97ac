//! A day's answers that the grader is tested with: those of `unusual/`, which must pass, those of `natural/`, which must be right, and
//! those of `wrong/`, which must be refused for the reason in `wrong/<exercise>.toml`. All days share this file.

use fusion_course::{Sample, Source};

// `collected`, written by the build script: one entry a file of `unusual/` and `natural/`, and one an entry of a file of `wrong/`.
include!(concat!(env!("OUT_DIR"), "/samples.rs"));

/// Every sample of the day.
pub fn samples() -> Vec<Sample> {
    collected()
}
