//! Products of warp groups (`wgmma`).

use serde::{Deserialize, Serialize};

use crate::report::Code;

/// What is wrong with a product, or with what is done beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Warpgroup {
    /// Of the four warps from `first` on, only those of `came` issue it; the block has so many warps.
    Missing { first: u32, came: u8, warps: u32 },
    /// Two warps of a group issue different products.
    Different,
    /// Two warps of a group, or lanes of one, have different descriptors.
    Descriptors { lanes: bool },
    /// A register of a product that is under way is read, or written. `factor`: it is one of A.
    Register { written: bool, factor: bool, committed: bool },
    /// No `wgmma.fence` before it: none at all, or none since a register of it was accessed.
    Fence { first: bool },
    /// Shared memory is overwritten that a product may still read.
    Overwritten,
}

impl Warpgroup {
    pub fn code(&self) -> Code {
        match self {
            Self::Missing { .. } | Self::Different => Code::WarpgroupPartial,
            Self::Descriptors { .. } => Code::WarpgroupDescriptor,
            Self::Register { .. } => Code::WarpgroupRegister,
            Self::Fence { .. } => Code::WarpgroupFence,
            Self::Overwritten => Code::WarpgroupOverwrite,
        }
    }
}
