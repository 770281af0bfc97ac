//! One answer in a quiz.

use serde::{Deserialize, Serialize};

/// A line of `quiz.jsonl`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mark {
    /// When the quiz began, in UTC. What was asked in one has the same.
    pub(crate) when: String,
    /// Which question it was: `mul_add/bytes`, `day22/3`.
    pub(crate) question: String,
    /// What was answered, as it was typed.
    pub(crate) given: String,
    pub(crate) right: bool,
}
