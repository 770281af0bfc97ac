//! What makes a kernel slower than it could be.

use serde::{Deserialize, Serialize};

use crate::report::Code;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speed {
    /// Requests of a load or store that move more sectors than their bytes need.
    Uncoalesced {
        write: bool,
        requests: u64,
        /// Sectors, and how many would do.
        moved: u64,
        ideal: u64,
        /// Bytes that lanes asked for, and those of one lane's access.
        bytes: u64,
        each: u64,
        /// Bytes between neighbouring threads, where they are always the same.
        stride: Option<u64>,
        /// The sectors that could be spared, of all that the launch asks of L2.
        surplus: Share,
        saving: Option<Saving>,
    },
    /// Accesses that go over the banks of shared memory more than once.
    BankConflict {
        write: bool,
        /// Passes, and how many would do.
        moved: u64,
        ideal: u64,
        each: u64,
        /// Words between neighbouring threads, where they are always the same.
        stride: Option<u64>,
        saving: Option<Saving>,
    },
    /// Neighbouring elements of `each` bytes that a thread accesses one by one.
    OneByOne {
        write: bool,
        elements: u64,
        each: u64,
        requests: u64,
        /// Sectors, and how many would do.
        moved: u64,
        ideal: u64,
        /// Bytes of the widest access that the addresses allow.
        wide: Option<u64>,
        saving: Option<Saving>,
    },
    /// One element per thread, of `element` bytes, when that leaves memory waiting.
    OneEach {
        element: u64,
        /// Bytes of the widest access.
        wide: u64,
        /// The bytes that go so, of all of the launch's.
        share: Share,
        /// Threads of a multiprocessor, the bytes that each has under way, and all that are needed.
        threads: u64,
        each: u64,
        needed: u64,
    },
    /// What a thread keeps in memory instead of registers.
    LocalMemory {
        /// An index is known only when the kernel runs.
        indexed: bool,
        /// What happens at the fault's own place.
        write: bool,
        bytes: u64,
        /// What the launch reads and writes of it.
        read: u64,
        written: u64,
        /// Its sectors, of all of the launch's.
        share: Share,
        saving: Option<Saving>,
    },
    /// A branch on which lanes of a warp have parted so often, and the instructions times lanes that this cost.
    Divergent { times: u64, idle: Share, saving: Option<Saving> },
    /// Dynamic shared memory of which blocks touch only the beginning, in bytes, and so many blocks that an SM holds at a time because of
    /// that, where as many would be possible.
    UnusedShared { asked: u64, touched: u64, held: u64, possible: u64, saving: Option<Saving> },
    /// What a launch writes only for the next one to read.
    RoundTrip {
        /// The launch before.
        writer: String,
        written: u64,
        read: u64,
        /// Bytes of the way out and back, of all that the two move.
        moved: Share,
    },
}

/// A part of a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    pub part: u64,
    pub whole: u64,
}

impl Share {
    pub fn new(part: u64, whole: u64) -> Self {
        Self { part, whole }
    }

    pub fn ratio(self) -> f64 {
        self.part as f64 / self.whole.max(1) as f64
    }
}

/// What a launch's work takes by the machine's model, in nanoseconds, as it is and without what the advice is about.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Saving {
    pub with_ns: f64,
    pub without_ns: f64,
}

impl Speed {
    pub fn code(&self) -> Code {
        match self {
            Self::Uncoalesced { .. } => Code::Uncoalesced,
            Self::BankConflict { .. } => Code::BankConflict,
            Self::OneByOne { .. } | Self::OneEach { .. } => Code::ScalarAccess,
            Self::LocalMemory { .. } => Code::LocalMemory,
            Self::Divergent { .. } => Code::Divergent,
            Self::UnusedShared { .. } => Code::UnusedShared,
            Self::RoundTrip { .. } => Code::RoundTrip,
        }
    }
}
