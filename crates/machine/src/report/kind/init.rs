//! Values that depend on what was never written.

use serde::{Deserialize, Serialize};

use crate::report::{Code, Name};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Init {
    /// A kernel uses a value that was read in elements of `bytes` from memory that was never written.
    Used {
        what: Undefined,
        by: Use,
        bytes: u32,
        /// It is a thread's own memory, and another thread has written there in its own.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        others: bool,
    },
    /// The host copies bytes that were never written: `missing` of `len`, the first at `first`.
    Copied {
        missing: u64,
        /// There are more.
        at_least: bool,
        first: u64,
        len: u64,
    },
}

/// What is undefined: memory or a register that was never written, or what a shuffle brings from where nobody gives anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Undefined {
    Global,
    Shared,
    Local,
    #[default]
    Register,
    /// A shuffle reads a lane that takes no part (PTX ISA 9.7.9.6, `shfl.sync`).
    Shuffle {
        lane: u32,
        absent: Absent,
    },
}

/// Why a lane takes no part in a shuffle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Absent {
    /// The mask leaves it out.
    Unnamed,
    Exited,
    /// The block has no such thread: its last warp is not full.
    NoThread,
}

/// Where an undefined value matters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Use {
    /// Stored to global memory.
    Stored {
        to: Option<Name>,
    },
    Branch,
    Guard,
    Address,
    /// An operand of an atomic.
    Atomic,
    /// An atomic changes memory that was never written.
    Updated,
    Mask,
    Barrier,
    Printed,
}

impl Init {
    pub fn code(&self) -> Code {
        match self {
            Self::Used { what, .. } => what.code(),
            Self::Copied { .. } => Code::CopyUninit,
        }
    }
}

impl Undefined {
    pub fn code(self) -> Code {
        match self {
            Self::Global => Code::UninitGlobal,
            Self::Shared => Code::UninitShared,
            Self::Local => Code::UninitLocal,
            Self::Register => Code::UninitRegister,
            Self::Shuffle { .. } => Code::SyncMask,
        }
    }
}
