//! Threads that wait for each other in vain, or wrongly.

use serde::{Deserialize, Serialize};

use crate::report::Code;

/// Lanes of a warp, as a mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lanes {
    pub warp: u32,
    pub mask: u32,
}

/// What threads wait at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Waits {
    AtBarrier(u32),
    /// For the other blocks of their cluster.
    AtCluster,
    /// Before a barrier, for the rest of their warp.
    BeforeBarrier,
    /// For other lanes of their warp.
    ForLanes,
}

/// Where a block stands that cannot go on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standstill {
    pub barriers: Vec<Arrivals>,
    /// Threads that have exited.
    pub exited: u32,
    /// The barrier of the cluster: threads that have arrived, of those that it waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<(u32, u32)>,
}

/// The blocks of a launch, of which not all fit on the device at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Crowd {
    /// Those that have begun, and wait.
    pub waiting: u64,
    pub unstarted: u64,
}

/// Threads that have arrived at a barrier, of those that it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrivals {
    pub id: u32,
    pub arrived: u32,
    pub expected: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sync {
    /// Lanes wait at a barrier that the rest of their warp never comes to.
    DivergentBarrier {
        waiting: Lanes,
        /// Other lanes wait at another barrier.
        another: bool,
        standstill: Standstill,
    },
    /// Lanes have waited at a barrier that others of their warp went around.
    BypassedBarrier {
        waiting: Lanes,
    },
    /// A warp waits at a barrier that another one of its block went around.
    BypassedByWarp {
        warp: u32,
    },
    /// A warp comes to a barrier while another waits at one that is the same to the hardware.
    Mismatch {
        id: u32,
        warp: u32,
    },
    /// A warp counts so many threads at a barrier where another one counts another number of them.
    Miscount {
        id: u32,
        warp: u32,
        threads: u32,
    },
    /// A warp comes to a round of a barrier, and could have completed the one before, of so many threads, in the place of `other`.
    MixedRounds {
        id: u32,
        warp: u32,
        threads: u32,
        other: u32,
    },
    NoSuchBarrier {
        id: u32,
    },
    BarrierCount {
        threads: u32,
    },
    /// Lanes `here` execute a warp operation whose mask leaves those `outside` out.
    MaskExcludes {
        here: u32,
        outside: u32,
        mask: u32,
    },
    /// The mask names threads that do not come.
    MaskNamesAbsent {
        waiting: Lanes,
        standstill: Standstill,
    },
    /// Lanes `here` execute what only a whole warp can; the others have exited, or are no threads of the block.
    PartialWarp {
        here: u32,
        exited: u32,
    },
    /// Every thread waits: these at this barrier, or else for other lanes.
    Deadlock {
        waiting: Option<Lanes>,
        barrier: Option<u32>,
        standstill: Standstill,
    },
    /// A barrier of the grid where the launch is not cooperative.
    NotCooperative,
    /// A block did not end within so many warp instructions, or waited as long for others that do not get anywhere.
    Endless {
        limit: u64,
        /// Who has not left the loop that the fault's place is the end of.
        inside: Option<Lanes>,
        /// How many other warps of the block are in it, too.
        others: u32,
        /// Blocks have not begun, which only one that ends makes room for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        crowd: Option<Crowd>,
    },
    /// The blocks end, and are too many or too long together.
    TooMuchWork {
        blocks: u64,
        budget: u64,
    },
}

impl Sync {
    pub fn code(&self) -> Code {
        match self {
            Self::DivergentBarrier { .. } | Self::BypassedBarrier { .. } | Self::BypassedByWarp { .. } => {
                Code::BarrierDivergent
            }
            Self::Mismatch { .. } => Code::BarrierMismatch,
            Self::Miscount { .. } | Self::MixedRounds { .. } => Code::BarrierRounds,
            Self::NoSuchBarrier { .. } => Code::BarrierId,
            Self::BarrierCount { .. } => Code::BarrierCount,
            Self::MaskExcludes { .. } | Self::MaskNamesAbsent { .. } | Self::PartialWarp { .. } => Code::SyncMask,
            Self::Deadlock { .. } => Code::Deadlock,
            Self::NotCooperative => Code::Cooperative,
            Self::Endless { .. } | Self::TooMuchWork { .. } => Code::Budget,
        }
    }
}
