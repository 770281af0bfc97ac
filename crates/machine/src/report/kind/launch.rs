//! Launches that are refused.

use serde::{Deserialize, Serialize};

use crate::report::{Code, Status};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    EmptyGrid {
        grid: [u32; 3],
    },
    GridTooLarge {
        grid: [u32; 3],
        most: [u32; 3],
    },
    EmptyBlock {
        block: [u32; 3],
    },
    /// More threads than the device runs in a block.
    TooManyThreads {
        threads: u64,
        most: u32,
    },
    BlockTooLarge {
        block: [u32; 3],
        most: [u32; 3],
    },
    /// The kernel demands blocks of another shape.
    OtherBlock {
        block: [u32; 3],
        required: [u32; 3],
    },
    /// More threads than this kernel runs with: it was compiled for `compiled_for`, or takes `registers` a thread, where they are known.
    TooManyForKernel {
        threads: u64,
        most: u32,
        compiled_for: u32,
        registers: Option<u32>,
    },
    /// More local memory a thread than the device has.
    Local {
        bytes: u32,
        most: u32,
    },
    /// More dynamic shared memory than the kernel may have. A block has `room` bytes, and `optin` for a kernel that asks.
    Shared {
        dynamic: u32,
        most: u32,
        fixed: u32,
        room: u32,
        optin: u32,
    },
    /// Parameters that do not match the kernel's, of which it takes `expected`.
    Parameters {
        problem: Parameters,
        expected: u64,
    },
    /// More blocks of a cooperative launch than run at once.
    TooManyBlocks {
        blocks: u64,
        resident: u64,
    },
    /// The host has no memory for so many blocks at once.
    TooManyForHost {
        blocks: u64,
        resident: u64,
    },
    /// The grid cannot be divided into clusters of that shape.
    ClusterGrid {
        cluster: [u32; 3],
        grid: [u32; 3],
    },
    /// More blocks in a cluster than may be: at most `most`, and `device` of a kernel that asks for it.
    ClusterTooLarge {
        cluster: [u32; 3],
        most: u32,
        device: u32,
    },
    /// The kernel demands clusters of another shape.
    OtherCluster {
        cluster: [u32; 3],
        required: [u32; 3],
    },
    /// The kernel demands that the launch says how many blocks a cluster has.
    NoCluster,
    /// The device has no clusters.
    NoClusters {
        cluster: [u32; 3],
    },
    /// The module has no such kernel.
    NoKernel,
    /// No memory for the heap of a kernel that calls `malloc`.
    NoHeap {
        requested: u64,
        free: u64,
    },
    /// There is no memory for the grid's barrier.
    NoBarrier {
        requested: u64,
        free: u64,
    },
}

/// What is wrong with a launch's parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Parameters {
    Missing,
    /// Packed into one buffer of too few bytes.
    Short {
        bytes: u64,
        expected: u64,
    },
    UnreadableBuffer,
    UnreadablePointers,
    /// The pointer to this one is null, or cannot be read.
    Pointer {
        index: u32,
        /// What the kernel's source calls it, where the PTX tells.
        name: Option<String>,
        bytes: u32,
        null: bool,
    },
}

impl Refusal {
    pub fn code(&self) -> Code {
        match self {
            Self::EmptyGrid { .. } | Self::GridTooLarge { .. } => Code::LaunchGrid,
            Self::EmptyBlock { .. }
            | Self::TooManyThreads { .. }
            | Self::BlockTooLarge { .. }
            | Self::OtherBlock { .. }
            | Self::TooManyForKernel { .. } => Code::LaunchBlock,
            Self::Local { .. } => Code::LaunchLocal,
            Self::Shared { .. } => Code::LaunchShared,
            Self::Parameters { .. } => Code::LaunchParams,
            Self::TooManyBlocks { .. } => Code::Cooperative,
            Self::TooManyForHost { .. } | Self::NoBarrier { .. } | Self::NoHeap { .. } => Code::LaunchMemory,
            Self::ClusterGrid { .. }
            | Self::ClusterTooLarge { .. }
            | Self::OtherCluster { .. }
            | Self::NoCluster
            | Self::NoClusters { .. } => Code::LaunchCluster,
            Self::NoKernel => Code::LaunchKernel,
        }
    }

    pub(super) fn status(&self) -> Status {
        match self {
            Self::TooManyForKernel { .. } => Status::OutOfResources,
            Self::TooManyBlocks { .. } => Status::TooManyBlocks,
            Self::ClusterGrid { .. } | Self::ClusterTooLarge { .. } | Self::OtherCluster { .. } | Self::NoCluster => {
                Status::InvalidCluster
            }
            Self::NoClusters { .. } => Status::NotSupported,
            _ => self.code().status(),
        }
    }
}
