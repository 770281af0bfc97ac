//! Accesses, and operations of the host's, that nothing orders.

use serde::{Deserialize, Serialize};

use crate::report::{Buffer, Code};

/// Two accesses of one launch. The fault's own place and thread are the one's, its first related place is the other's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Race {
    pub rule: Rule,
    pub hazard: Hazard,
    pub one: Side,
    pub other: Side,
    /// Blocks of the grid and threads of a block, to count those of the two by.
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub same_block: bool,
    pub same_warp: bool,
    /// Both accesses are one instruction's.
    pub same_instruction: bool,
    /// The two are the read and the write of one statement that changes one element.
    pub update: bool,
    /// A fence behind an atomic would have ordered them.
    pub unfenced: bool,
    /// Both are made between taking and giving back one lock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locked: Option<Lock>,
    /// The write is that of a loop's next round: a barrier stands between it and the read, which is one of the related places.
    #[serde(default)]
    pub next_round: bool,
    /// The copy is one that an mbarrier is told of.
    #[serde(default)]
    pub bulk: bool,
    /// The kernel has atomics or fences by which its blocks may communicate.
    pub communicates: bool,
    /// The launch's blocks are single warps.
    pub lone_warps: bool,
}

/// Which rule the two break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    Shared,
    /// Blocks of one cluster, in the shared memory of one of them.
    Cluster,
    Global,
    Blocks,
    /// The scope of an atomic leaves the other one out.
    Scope,
    /// Both write the same value.
    Benign,
    /// An asynchronous copy has not been waited for.
    Async,
    /// The one reads through the path for what nobody writes while the kernel runs, and the other wrote before.
    ReadOnly,
    /// Both are volatile and of one warp, whose lanes need not run in step.
    Lockstep,
    /// No value goes wrong by it on any GPU that there is.
    Idiom(Idiom),
}

/// A race by the memory model that does no harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Idiom {
    /// A plain read of what a compare-and-swap on the same place then confirms.
    Guess,
    /// A plain read that only decides whether an atomic on the same place is worth doing.
    Guard,
    /// The writer has a fence before it counts itself, and who comes last by that count has none behind it.
    Last,
}

/// A lock around two accesses: whether fences stand where it needs them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lock {
    /// One behind the atomic that takes it.
    pub taken: bool,
    /// One before what gives it back.
    pub given: bool,
}

/// In which order a program that is like its neighbours would have made the two accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hazard {
    /// A read of what was to be written before.
    Read,
    /// A write of what was to be read before.
    Overwrite,
    Writes,
}

/// One side of a race.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Side {
    pub does: Does,
    /// Atomic or volatile.
    pub strong: bool,
    /// Bytes that it accesses.
    pub bytes: u64,
    /// And of which memory.
    pub buffer: Option<Buffer>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Does {
    Reads,
    Writes,
    /// By an atomic.
    Updates,
    /// Asynchronously.
    CopiesInto,
    CopiesFrom,
}

/// Threads that a barrier orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    Warp,
    Block,
}

impl Rule {
    pub fn code(self) -> Code {
        match self {
            Self::Shared => Code::RaceShared,
            Self::Cluster => Code::RaceCluster,
            Self::Global => Code::RaceGlobal,
            Self::Blocks => Code::RaceBlocks,
            Self::Scope => Code::RaceScope,
            Self::Benign => Code::RaceBenign,
            Self::Async => Code::RaceAsync,
            Self::Idiom(_) => Code::RaceIdiom,
            Self::ReadOnly => Code::NcWritten,
            Self::Lockstep => Code::WarpSynchronous,
        }
    }
}

impl Race {
    pub fn code(&self) -> Code {
        self.rule.code()
    }

    /// Threads of two blocks write the same one of several elements by one instruction: their indices are the same.
    pub fn shares_an_index(&self) -> bool {
        let writes = self.one.does == Does::Writes && self.other.does == Does::Writes;
        let several = self.one.buffer.as_ref().is_some_and(|buffer| buffer.size > self.one.bytes);
        writes && several && self.same_instruction && !self.same_block
    }

    /// Whether one of the two is atomic or volatile.
    pub fn strong(&self) -> bool {
        self.one.strong || self.other.strong
    }

    /// The smallest barrier that orders the two, where one between them is the fix.
    pub fn barrier(&self) -> Option<Scope> {
        let by_barrier = matches!(self.rule, Rule::Shared | Rule::Global)
            && !self.update
            && self.locked.is_none()
            && self.same_block
            && (self.strong() || self.hazard != Hazard::Writes || !self.same_instruction);
        by_barrier.then_some(if self.same_warp { Scope::Warp } else { Scope::Block })
    }
}

/// Two operations that the host has asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unordered {
    pub earlier: Operation,
    pub later: Operation,
}

/// What the host has asked for, and whether it writes where the two meet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation {
    pub act: Act,
    /// The number of its stream; 0 for the default one.
    pub stream: u32,
    pub write: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Act {
    Launch { kernel: String },
    ToDevice,
    ToHost,
    WithinDevice,
    Memset,
    Free,
}

impl Act {
    /// Whether the host's memory is the other end.
    pub fn with_host(&self) -> bool {
        matches!(self, Self::ToDevice | Self::ToHost)
    }
}

impl Unordered {
    pub fn code(&self) -> Code {
        match self.earlier.act.with_host() || self.later.act.with_host() {
            true => Code::RaceHost,
            false => Code::RaceStreams,
        }
    }
}
