//! Wrong kernels: submissions that a grader must refuse, each for a stated reason.

use crate::Entry;

/// A deliberately wrong answer: an entry of `solutions/<day>/wrong/<exercise>.toml`.
#[derive(Debug)]
pub struct Wrong {
    /// `missing_guard`.
    pub name: &'static str,
    /// The grader's code of the failure that it must be refused for: `values`, `unwritten`, `tail`,
    /// `inputs`, `stream`, `launch`, `launches`, `bytes`, or `fault E-OOB-GLOBAL` with the emulated
    /// device's code. `warning W-RACE-BENIGN` for one that passes, but not without that warning.
    pub reason: &'static str,
    /// What is wrong, in a sentence.
    pub sentence: &'static str,
    pub entry: Entry,
}
