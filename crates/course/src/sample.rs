//! Answers whose verdict is known: right ones that are unusual or as beginners write them, and wrong ones.

use crate::Entry;

/// An answer that the grader is tested with: of `solutions/<day>/unusual`, where it must pass, of
/// `solutions/<day>/natural`, where it must be right, or of `solutions/<day>/wrong`.
#[derive(Debug)]
pub struct Sample {
    /// `missing_guard`.
    pub name: &'static str,
    /// What the grader must say: [`Sample::PASS`], [`Sample::RIGHT`], the reason of a failure as the grader words it, such as `values` or
    /// `fault E-OOB-GLOBAL`, or `warning W-RACE-BENIGN` for one that passes, but not without that warning.
    pub verdict: &'static str,
    /// What it is, or what is wrong about it, in a sentence.
    pub sentence: &'static str,
    pub entry: Entry,
}

impl Sample {
    /// The verdict on a right answer: however fast it is.
    pub const PASS: &str = "pass";

    /// The verdict on an answer as a beginner writes it: its results are right, and it may waste memory and time.
    pub const RIGHT: &str = "right";

    /// What it is: the folder that it is in.
    pub fn kind(&self) -> &'static str {
        match self.verdict {
            Self::PASS => "unusual",
            Self::RIGHT => "natural",
            _ => "wrong",
        }
    }

    /// Whether that verdict is one on a wrong answer.
    pub fn refuses(verdict: &str) -> bool {
        ![Self::PASS, Self::RIGHT].contains(&verdict)
    }
}
