//! What can go wrong, as data: no sentence, and nothing that only some host's API knows.

mod arithmetic;
mod call;
mod cluster;
mod init;
mod launch;
mod mbarrier;
mod memory;
mod race;
mod speed;
mod stop;
mod sync;
mod tensor;
mod warpgroup;

use serde::{Deserialize, Serialize};

use super::{Code, Status};

pub use arithmetic::{Arithmetic, Formula};
pub use call::{Call, Stray};
pub use cluster::Cluster;
pub use init::{Absent, Init, Undefined, Use};
pub use launch::{Parameters, Refusal};
pub use mbarrier::{Mbarrier, Phase};
pub use memory::{Access, Memory};
pub use race::{Act, Does, Hazard, Idiom, Lock, Operation, Race, Rule, Scope, Side, Unordered};
pub use speed::{Saving, Share, Speed};
pub use stop::{Stop, Unsupported};
pub use sync::{Arrivals, Crowd, Lanes, Standstill, Sync, Waits};
pub use tensor::{Missing, Proxy, Reader, Tensor, Unfinished};
pub use warpgroup::Warpgroup;

macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident)*) => {
        /// What is wrong.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Kind {
            $($(#[$doc])* $variant($variant),)*
        }

        impl Kind {
            pub fn code(&self) -> Code {
                match self {
                    $(Self::$variant(kind) => kind.code(),)*
                }
            }
        }

        $(impl From<$variant> for Kind {
            fn from(kind: $variant) -> Self {
                Self::$variant(kind)
            }
        })*
    };
}

kinds! {
    /// An access that memory cannot serve.
    Memory
    /// A value that depends on what was never written.
    Init
    /// Two accesses of one kernel that nothing orders.
    Race
    /// Two operations of the host that nothing orders.
    Unordered
    /// Threads that wait for each other in vain, or wrongly.
    Sync
    /// Blocks of one cluster that reach for each other.
    Cluster
    /// Objects that count arrivals.
    Mbarrier
    /// Copies of boxes.
    Tensor
    /// What the asynchronous proxy need not see.
    Proxy
    /// Copies that go on when their block has ended.
    Unfinished
    /// Products of warp groups, and what is done beside them.
    Warpgroup
    /// The kernel has stopped itself.
    Stop
    /// The emulator does not execute it.
    Unsupported
    /// A launch that was refused.
    Refusal
    /// Another call that was refused.
    Call
    /// Arithmetic that is probably not meant.
    Arithmetic
    /// What makes a kernel slower than it could be.
    Speed
}

impl Kind {
    /// How it ends for the program that made the mistake.
    pub fn status(&self) -> Status {
        match self {
            Self::Refusal(refusal) => refusal.status(),
            // Also where the code is that of a mask.
            Self::Init(_) => Status::GoesOn,
            _ => self.code().status(),
        }
    }
}

/// What another place has to do with a fault.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The other access of a race.
    Access,
    /// The write that a bulk copy need not see.
    Wrote,
    /// A barrier between the write and the read of one round of a loop.
    RoundBarrier,
    /// Where the copying thread has waited for its copies, which leaves so many groups of them under way.
    CopyWait { groups: u32 },
    /// The read that found what was never written.
    Read,
    /// Where the memory was allocated.
    Allocation,
    /// The access whose address is made from the result.
    Addressed,
    /// Threads that wait, and so many further warps beside them.
    Waiting { lanes: Lanes, waits: Waits, more: u32 },
    /// The other barrier that is the same to the hardware, and who waits there.
    OtherBarrier { warp: u32 },
    /// Another warp at the same barrier, which counts so many threads.
    OtherCount { warp: u32, threads: u32 },
    /// A warp that came to the round before of a barrier.
    RoundBefore { warp: u32 },
    /// Where the object was initialised that counts arrivals.
    Initialised,
    /// Lanes that have gone around a barrier, or another warp operation.
    Bypassing { lanes: u32, barrier: bool },
    /// A warp that has gone around a barrier of its block, and ends.
    BypassingWarp { warp: u32 },
    /// The product of a warp group that is under way.
    Product,
    /// The same product, as another warp of the group issues it.
    OtherProduct { warp: u32 },
    /// The access to a register of the product.
    Register { written: bool },
    /// The access of the next element.
    Neighbour,
    /// The same kind of access at another place.
    Likewise { write: bool },
    /// Local memory that is accessed here too.
    Local { bytes: u64, write: bool },
    /// The launch before, which has written what this one reads.
    Writer { kernel: String },
    /// The access by the other operation of the host's, a kernel.
    Operation { kernel: String, write: bool },
}
