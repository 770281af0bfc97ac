//! A day's kernels under `wrong/` that the grader must refuse, each for the reason in its first line. All days share this file.

use fusion_course::Wrong;

// `collected`, written by the build script: one entry a file.
include!(concat!(env!("OUT_DIR"), "/wrong.rs"));

/// Every wrong kernel of the day.
pub fn wrong() -> Vec<Wrong> {
    collected()
}
