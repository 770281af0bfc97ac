//! A day's kernels under `top/`: the top rungs of ladders whose exercises have a plainer solution. All days share this file.

use fusion_course::Entry;

// `collected`, written by the build script: one entry a file.
include!(concat!(env!("OUT_DIR"), "/top.rs"));

/// Every top rung of the day.
pub fn top() -> Vec<Entry> {
    collected()
}
