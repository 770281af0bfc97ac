//! Blocks of one cluster that reach for each other's shared memory, and their barrier.

use serde::{Deserialize, Serialize};

use super::Access;
use crate::report::Code;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cluster {
    /// The cluster has `blocks` blocks, and none of this rank.
    NoSuchRank { rank: u64, blocks: u32, access: Access },
    /// By an access that reaches the own block's shared memory only, to that of the block of a rank.
    NotOwn { rank: u32, own: u32, access: Access },
    /// Outside of the shared memory of the block of that rank, which has `size` bytes.
    Outside { rank: u32, access: Access, size: u64 },
    /// The block of that rank, which is `block` of the grid, has exited.
    Exited { rank: u32, block: u64, access: Access },
    /// It has exited later, and nothing orders its exit behind the access.
    MayHaveExited { rank: u32, block: u64, access: Access },
    /// Threads arrive at the cluster's barrier once more, and have not waited since they did.
    ArrivesTwice,
    /// They wait, and have not arrived.
    WaitsFirst,
}

impl Cluster {
    pub fn code(&self) -> Code {
        match self {
            Self::NoSuchRank { .. } => Code::ClusterRank,
            Self::NotOwn { .. } => Code::ClusterSpace,
            Self::Outside { .. } => Code::OobShared,
            Self::Exited { .. } | Self::MayHaveExited { .. } => Code::ClusterExited,
            Self::ArrivesTwice | Self::WaitsFirst => Code::ClusterBarrier,
        }
    }
}
