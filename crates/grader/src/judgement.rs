#![doc = include_str!("../REPORT.md")]
//!
//! # The types
//! One [`Judgement`] an exercise, one [`Report`] a run.
//!
//! These types are the JSON of `cargo xtask grade --json`, so every field is part of its contract.
//! Times are in nanoseconds, sizes in bytes, speeds in GB/s (10^9 bytes a second). Numbers that JSON cannot write
//! (NaN, infinities) are strings.

mod failure;
mod fate;
mod location;
pub(crate) mod number;
mod part;
mod parts;
mod report;
mod timing;

pub use failure::{CAUSE, CAUSE_MEANING, Code, EMPTY, Failure, IDLE, Mismatch, SUSPECT, SUSPECT_MEANING, Side};
pub use fate::Fate;
pub use location::{Line, Location};
pub(crate) use part::Evidence;
pub use part::{Part, View, Witness};
pub use parts::Parts;
pub use report::{ClassRun, DeviceInfo, DeviceKind, Judgement, Kind, Report, RunError, VERSION};
pub use timing::{Band, Basis, Clocks, Figures, Interval, Timing};

pub use crate::fast::{Contest, Fast};
pub use crate::lean::{Beside, Lean, Sectors};
pub use crate::right::Right;

use serde::{Deserialize, Serialize};

/// The outcome of an exercise, and of each of its parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    Pass,
    Fail,
    /// The measurement was too noisy to say.
    Inconclusive,
    /// Nothing was judged; a note says why.
    #[default]
    Ungraded,
}

impl Verdict {
    /// The verdict over parts: one failure fails, and a pass needs every part.
    pub fn combine(parts: impl IntoIterator<Item = Verdict>) -> Verdict {
        let weight = |verdict: &Verdict| match verdict {
            Verdict::Pass => 0,
            Verdict::Inconclusive => 1,
            Verdict::Ungraded => 2,
            Verdict::Fail => 3,
        };
        parts.into_iter().max_by_key(weight).unwrap_or(Verdict::Ungraded)
    }

    /// 0 passed, 1 graded and failed, 2 could not be graded.
    pub fn exit_code(self) -> u8 {
        match self {
            Verdict::Pass => 0,
            Verdict::Fail => 1,
            Verdict::Inconclusive | Verdict::Ungraded => 2,
        }
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Verdict::Pass => "pass",
            Verdict::Fail => "fail",
            Verdict::Inconclusive => "inconclusive",
            Verdict::Ungraded => "ungraded",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Verdict::{self, *};

    #[test]
    fn one_failure_fails_and_a_pass_needs_every_part() {
        let cases: &[(&[Verdict], Verdict, u8)] = &[
            (&[Pass, Pass, Pass], Pass, 0),
            (&[Pass, Fail, Ungraded], Fail, 1),
            (&[Pass, Pass, Inconclusive], Inconclusive, 2),
            (&[Ungraded, Pass, Inconclusive], Ungraded, 2),
            (&[], Ungraded, 2),
        ];
        for (parts, expected, code) in cases {
            let verdict = Verdict::combine(parts.iter().copied());
            assert_eq!((verdict, verdict.exit_code()), (*expected, *code), "{parts:?}");
        }
    }
}
