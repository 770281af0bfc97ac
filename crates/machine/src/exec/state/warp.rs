//! A warp: 32 lanes, which run together as long as they agree on where to go.
//!
//! Lanes that share a program counter and a call stack are a *split*. The scheduler runs the split
//! that is deepest in calls and lowest in the code; the code is laid out so that a join stands
//! behind everything that leads to it, and so splits meet again there and become one.

use super::cluster::Arrived;
use super::lanes::{Bases, FULL, Lanes, Registers};
use super::local::Local;
use super::run::Run;
use super::stores::Bypass;
use crate::code::{Fill, Function, Reg, TRUE, window};

/// A caller that waits for its callee.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// The call instruction.
    pub(crate) call: u32,
    pub(crate) function: u32,
    pub(crate) bases: Bases,
    pub(crate) local_base: u32,
}

/// What a split is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Ready,
    /// Stands before an instruction that other lanes of the warp must reach too.
    Gathering,
    /// Has arrived at a barrier of the block; `round` is the barrier's when it did.
    Barrier {
        id: u32,
        round: u64,
        result: Option<(Reg, BarrierResult)>,
        at: u32,
    },
    /// Waits at the barrier of the cluster, where it arrived in this round.
    Cluster {
        round: u64,
        at: u32,
    },
}

impl State {
    /// Waits for threads beyond its warp.
    pub(crate) fn is_at_barrier(self) -> bool {
        matches!(self, Self::Barrier { .. } | Self::Cluster { .. })
    }
}

/// Where a split goes after the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// On to the next instruction.
    Next,
    /// The split has been told where; the scheduler decides who runs.
    Leave,
}

/// Which of a barrier's reductions a lane wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BarrierResult {
    Popc,
    And,
    Or,
}

/// Where lanes parted: the branch, and those who came to it together. A split carries what it has not recovered from.
pub(crate) type Apart = Vec<(u32, u32)>;

#[derive(Clone, Debug)]
pub(crate) struct Split {
    pub(crate) pc: u32,
    pub(crate) mask: u32,
    pub(crate) state: State,
    pub(crate) function: u32,
    pub(crate) bases: Bases,
    /// Where the frame begins in local memory.
    pub(crate) local_base: u32,
    pub(crate) callers: Vec<Frame>,
    /// The warp's clock when it last ran.
    pub(crate) last_ran: u64,
    /// Instructions by which one waits for others (exchanges, volatile loads, sleeps) since the warp switched.
    pub(crate) waits: u32,
    /// The operation at which it waits for other lanes of its warp, and since which of the warp's events.
    pub(crate) waits_since: Option<(u32, u32)>,
    /// For the advice on speed: where its lanes have parted from others.
    pub(crate) apart: Apart,
}

#[derive(Debug)]
pub(crate) struct Warp {
    pub(crate) index: u32,
    /// The lanes that are threads of the block.
    pub(crate) threads: u32,
    /// Those that have not exited.
    pub(crate) alive: u32,
    pub(crate) splits: Vec<Split>,
    pub(crate) regs: Registers,
    pub(crate) local: Local,
    /// Warp instructions executed in this block.
    pub(crate) clock: u64,
    /// This many instructions by which one waits since the turn began.
    pub(crate) waits: u32,
    pub(crate) bypass: Bypass,
    /// At the barrier of the cluster.
    pub(crate) arrived: Arrived,
}

impl Warp {
    /// A warp of the launch, with everything in its registers that is the same for every block.
    pub(crate) fn new(run: &Run<'_>, index: u32) -> Self {
        let first = index * 32;
        let threads = if run.threads - first >= 32 { FULL } else { FULL >> (32 - (run.threads - first)) };
        let mut warp = Self {
            index,
            threads,
            alive: 0,
            splits: Vec::new(),
            regs: Registers::default(),
            local: Local::new(Lanes([0; 32])),
            clock: 0,
            waits: 0,
            bypass: Bypass::default(),
            arrived: Arrived::default(),
        };
        if let Some(entry) = run.code.function(run.code.entry) {
            warp.regs.reserve(Bases::default(), entry.words, entry.doubles, entry.predicates);
            warp.regs.predicates[TRUE as usize] = FULL;
            for &(fill, reg) in &entry.fills {
                if !fill.differs_by_block() {
                    warp.fill(run, [0; 3], Bases::default(), fill, reg, FULL);
                }
            }
            warp.local.grow((entry.frame_bytes / 4) as usize);
        }
        warp
    }

    /// Ready to run a block from the kernel's first instruction.
    pub(crate) fn start(&mut self, run: &Run<'_>, block: [u32; 3]) {
        let code = run.code;
        let Some(entry) = code.function(code.entry) else { return };
        for &(fill, reg) in &entry.fills {
            if fill.differs_by_block() {
                self.fill(run, block, Bases::default(), fill, reg, FULL);
            }
        }
        let mut view = self.regs.view(Bases::default());
        for &reg in &entry.cleared {
            view.put(reg, FULL, &[0; 32]);
        }
        self.local.shrink((entry.frame_bytes / 4) as usize);
        self.alive = self.threads;
        self.clock = 0;
        self.waits = 0;
        self.bypass.start();
        self.arrived = Arrived::default();
        self.splits.clear();
        self.splits.push(Split {
            pc: entry.start,
            mask: self.threads,
            state: State::Ready,
            function: code.entry,
            bases: Bases::default(),
            local_base: 0,
            callers: Vec::new(),
            last_ran: 0,
            waits: 0,
            waits_since: None,
            apart: Apart::new(),
        });
    }

    /// Puts the constants of a callee's frame in place for some lanes.
    pub(crate) fn enter(&mut self, run: &Run<'_>, block: [u32; 3], f: &Function, bases: Bases, mask: u32) {
        self.regs.reserve(bases, f.words, f.doubles, f.predicates);
        // Only for these lanes: where this frame has the constant, another split's frame may have a predicate of its own.
        self.regs.predicates[(bases.predicates + TRUE) as usize] |= mask;
        for &(fill, reg) in &f.fills {
            self.fill(run, block, bases, fill, reg, mask);
        }
        let mut view = self.regs.view(bases);
        for &reg in &f.cleared {
            view.put(reg, mask, &[0; 32]);
        }
    }

    fn fill(&mut self, run: &Run<'_>, block: [u32; 3], bases: Bases, fill: Fill, reg: Reg, mask: u32) {
        let first = self.index * 32;
        let thread = |lane: usize| {
            let [x, y, _] = run.launch.block;
            let linear = first + lane as u32;
            [linear % x, linear / x % y, linear / x / y]
        };
        let below = |lane: usize| (1u32 << lane) - 1;
        let each = |value: &dyn Fn(usize) -> u32| std::array::from_fn(|lane| u64::from(value(lane)));
        let values: [u64; 32] = match fill {
            Fill::Tid(axis) => each(&|lane| thread(lane)[axis as usize % 3]),
            Fill::LaneId => each(&|lane| lane as u32),
            Fill::LaneMaskEq => each(&|lane| 1 << lane),
            Fill::LaneMaskLt => each(&|lane| below(lane)),
            Fill::LaneMaskLe => each(&|lane| below(lane) | 1 << lane),
            Fill::LaneMaskGt => each(&|lane| !(below(lane) | 1 << lane)),
            Fill::LaneMaskGe => each(&|lane| !below(lane)),
            Fill::Constant(value) => [value; 32],
            Fill::Shared(within) => [u64::from(run.rank(block)) << window::RANK | within; 32],
            Fill::WarpId => [self.index.into(); 32],
            Fill::Ntid(axis) => [run.launch.block[axis as usize % 3].into(); 32],
            Fill::Nctaid(axis) => [run.launch.grid[axis as usize % 3].into(); 32],
            Fill::NwarpId => [run.warps.into(); 32],
            Fill::NsmId => [run.sms.into(); 32],
            Fill::GridId => [run.grid_id; 32],
            Fill::GridWorkspace => [run.workspace & 0xffff_ffff; 32],
            Fill::GridWorkspaceHigh => [run.workspace >> 32; 32],
            Fill::SharedSize => [run.shared_given.0.into(); 32],
            Fill::AllSharedSize => [run.shared_given.1.into(); 32],
            Fill::DynamicSharedSize => [run.launch.dynamic_shared.into(); 32],
            Fill::Ctaid(axis) => [block[axis as usize % 3].into(); 32],
            Fill::ClusterCtaid(axis) => [(block[axis as usize % 3] % run.cluster[axis as usize % 3]).into(); 32],
            Fill::ClusterId(axis) => [(block[axis as usize % 3] / run.cluster[axis as usize % 3]).into(); 32],
            Fill::ClusterCtarank => [run.rank(block).into(); 32],
            Fill::ClusterNctaid(axis) => [run.cluster[axis as usize % 3].into(); 32],
            Fill::NclusterId(axis) => {
                [(run.launch.grid[axis as usize % 3] / run.cluster[axis as usize % 3]).into(); 32]
            }
            Fill::ClusterNctarank => [run.cluster_size().into(); 32],
            Fill::IsExplicitCluster => [run.explicit_cluster.into(); 32],
            Fill::SmId => [run.linear(block) % u64::from(run.sms.max(1)); 32],
        };
        self.regs.view(bases).put(reg, mask, &values);
    }

    pub(crate) fn done(&self) -> bool {
        self.splits.is_empty()
    }

    /// Whether lanes could go on that have not only waited in this turn.
    pub(crate) fn has_work(&self) -> bool {
        self.splits.iter().any(|split| split.state == State::Ready && split.waits == 0)
    }

    /// Lanes that were threads of the block and have exited.
    pub(crate) fn exited(&self) -> u32 {
        self.threads & !self.alive
    }

    /// Back among the others: one with those that stand at the same place.
    pub(crate) fn join(&mut self, mut split: Split) {
        let mergeable = |s: &Split| !s.state.is_at_barrier();
        if mergeable(&split) {
            let same = |s: &Split| {
                s.pc == split.pc
                    && s.bases == split.bases
                    && s.local_base == split.local_base
                    && s.function == split.function
                    && s.callers == split.callers
                    && mergeable(s)
            };
            let mut grown = false;
            let mut mask = split.mask;
            self.splits.retain(|s| {
                let meets = same(s);
                if meets {
                    split.waits_since = split.waits_since.or(s.waits_since);
                    mask |= s.mask;
                    grown = true;
                }
                !meets
            });
            split.mask = mask;
            if grown {
                split.state = State::Ready;
            }
        }
        self.splits.push(split);
    }

    /// Takes the lanes that do not execute a guarded operation out of the split: they go on behind it.
    pub(crate) fn detach(&mut self, split: &mut Split, mask: u32) {
        self.detach_to(split, mask, split.pc + 1);
    }

    /// Takes the lanes outside of `mask` out of the split and lets them go on at `pc`.
    pub(crate) fn detach_to(&mut self, split: &mut Split, mask: u32, pc: u32) {
        let rest = split.mask & !mask;
        if rest != 0 {
            let others = Split { pc, mask: rest, state: State::Ready, waits_since: None, ..split.clone() };
            self.join(others);
            split.mask = mask;
        }
    }

    /// The split waits before its instruction for other lanes of the warp.
    pub(crate) fn gather(&mut self, split: &mut Split, mask: u32) -> Flow {
        self.detach(split, mask);
        split.state = State::Gathering;
        self.bypass.wait(split);
        Flow::Leave
    }

    /// Some lanes have exited: those that gather may have waited for them.
    pub(crate) fn exit(&mut self, mask: u32) {
        self.alive &= !mask;
        for split in &mut self.splits {
            if split.state == State::Gathering {
                split.state = State::Ready;
            }
        }
    }
}
