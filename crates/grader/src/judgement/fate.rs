//! What becomes of a mutant.

use serde::{Deserialize, Serialize};

use super::Failure;

/// What the grader made of a mutant of a solution: a version with one small mistake in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "fate", rename_all = "kebab-case")]
pub enum Fate {
    /// It is no program, so it says nothing about the grader.
    NotCompiled,
    /// The compiler makes the same code of it as of the solution: no test can tell them apart.
    SameCode,
    Refused {
        failure: Box<Failure>,
    },
    /// It was found right and lean.
    Survived,
    /// It could not be judged, for this reason.
    Unjudged {
        note: String,
    },
}
