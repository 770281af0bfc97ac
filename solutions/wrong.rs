//! A day's kernels that the grader must refuse, each for the reason in `wrong/<exercise>.toml`. All days share this file.

use fusion_course::{Source, Wrong};

// `collected`, written by the build script: one entry of a file each.
include!(concat!(env!("OUT_DIR"), "/wrong.rs"));

/// Every wrong kernel of the day.
pub fn wrong() -> Vec<Wrong> {
    collected()
}
