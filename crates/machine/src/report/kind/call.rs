//! Other calls that are refused.

use serde::{Deserialize, Serialize};

use crate::memory::{AccessError, OutOfMemory};
use crate::report::Code;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Call {
    /// A copy or memset.
    Copy(Stray),
    /// The address is not the start of an allocation that can be freed.
    Free { address: u64 },
    /// The host's name for what is wrong, and the compiler's log.
    Module { error: String, log: String },
    OutOfMemory {
        requested: u64,
        free: u64,
        /// Whether the device would have it, and the host that emulates it has not.
        of_host: bool,
    },
}

/// An access by the host that no allocation covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stray {
    Null,
    /// No address of device memory.
    Unmapped {
        address: u64,
    },
    /// `len` bytes from there on leave an allocation of `size` bytes that ends at `end`.
    PastEnd {
        address: u64,
        len: u64,
        size: u64,
        end: u64,
    },
    /// In an allocation of `size` bytes that begins at `base` and was freed.
    Freed {
        address: u64,
        base: u64,
        size: u64,
    },
}

impl Call {
    pub fn code(&self) -> Code {
        match self {
            Self::Copy(_) => Code::Copy,
            Self::Free { .. } => Code::Free,
            Self::Module { .. } => Code::Module,
            Self::OutOfMemory { .. } => Code::OutOfMemory,
        }
    }
}

impl From<AccessError> for Call {
    fn from(error: AccessError) -> Self {
        Self::Copy(match error {
            AccessError::Unmapped { addr } => Stray::Unmapped { address: addr },
            AccessError::OutOfBounds { addr, len, allocation } => {
                Stray::PastEnd { address: addr, len, size: allocation.size, end: allocation.end() }
            }
            AccessError::Freed { addr, allocation } => {
                Stray::Freed { address: addr, base: allocation.base, size: allocation.size }
            }
        })
    }
}

impl From<OutOfMemory> for Call {
    fn from(OutOfMemory { requested, free, of_host }: OutOfMemory) -> Self {
        Self::OutOfMemory { requested, free, of_host }
    }
}
