//! Objects that count arrivals.

use serde::{Deserialize, Serialize};

use crate::report::Code;

/// What the fault's buffer is, where there is one: the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mbarrier {
    /// It was never initialised, or it has been invalidated.
    NotInitialised { invalidated: bool },
    /// No phase has so many arrivals.
    Count { count: u64 },
    /// So many arrive at once where the phase lacks fewer.
    TooMany { arrivals: u64, phase: Phase },
    /// Nobody can move: threads wait for a phase that is not complete.
    Waits { lanes: u32, phase: Phase },
}

/// How far the present phase of an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// The lowest bit of its number.
    pub odd: bool,
    /// Arrivals that it lacks, of so many.
    pub pending: u64,
    pub expected: u64,
    /// Bytes that it lacks.
    pub bytes: i64,
}

impl Mbarrier {
    pub fn code(&self) -> Code {
        match self {
            Self::Waits { .. } => Code::Deadlock,
            _ => Code::Mbarrier,
        }
    }
}
