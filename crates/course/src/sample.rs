//! Answers whose verdict is known: right ones that are unusual, and wrong ones.

use crate::Entry;

/// An answer that the grader is tested with: of `solutions/<day>/unusual`, where it must pass, or of `solutions/<day>/wrong`.
#[derive(Debug)]
pub struct Sample {
    /// `missing_guard`.
    pub name: &'static str,
    /// What the grader must say: [`Sample::PASS`], the reason of a failure as the grader words it, such as `values` or
    /// `fault E-OOB-GLOBAL`, or `warning W-RACE-BENIGN` for one that passes, but not without that warning.
    pub verdict: &'static str,
    /// What is wrong or unusual about it, in a sentence.
    pub sentence: &'static str,
    pub entry: Entry,
}

impl Sample {
    /// The verdict on a right answer.
    pub const PASS: &str = "pass";
}
