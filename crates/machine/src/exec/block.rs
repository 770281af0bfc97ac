//! A block: its warps, its shared memory, its barriers.

pub(crate) mod endless;

use super::bypass::Gone;
use super::finding::Site;
use super::grid::Worker;
use super::race::Came;
use super::trap::{Party, Trap, Trapped};
use super::warp::{BarrierResult, Split, State, Warp};
use super::watch::BlockChecks;
use crate::code::SlowOp;
use crate::report::kind::{Arrivals, Lanes, Standstill, Sync, Waits};
use crate::report::{Code, Role};

/// What the warps of a block share.
#[derive(Debug)]
pub(crate) struct Common {
    pub(crate) id: [u32; 3],
    pub(crate) shared: Vec<u32>,
    pub(crate) barriers: [Barrier; 16],
    /// Threads of the block.
    pub(crate) threads: u32,
    /// Those that have not exited.
    pub(crate) live: u32,
    /// Instructions by which one waits for others, in this round.
    pub(crate) waits: u32,
    /// After how many of them a split lets others run.
    pub(crate) patience: u32,
    /// Somebody has taken a ticket: one of a queue's, perhaps, that other blocks take from, too.
    pub(crate) took: bool,
    /// How often that was so.
    pub(crate) takes: u32,
    /// A barrier has been completed since the block's turn began.
    passed: bool,
    /// Who has exited after a store, one for each place of it.
    pub(crate) gone: Vec<Gone>,
    pub(crate) output: String,
    pub(crate) checks: BlockChecks,
}

/// A named barrier (PTX ISA 9.7.13.1).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Barrier {
    arrived: u32,
    /// How many of these wait.
    waiting: u32,
    /// How many threads complete it; `None` for every live thread of the block.
    expected: Option<u32>,
    /// How often it has been completed.
    pub(crate) round: u64,
    popc: u32,
    all: bool,
    any: bool,
    last: (u32, bool, bool),
    /// Who came first in this round.
    pub(crate) first: Option<Arrival>,
}

/// A thread's arrival at a barrier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) pc: u32,
    pub(crate) thread: u32,
}

impl Barrier {
    /// The reduction of the round that was completed last.
    pub(crate) fn result(&self, which: BarrierResult) -> u64 {
        match which {
            BarrierResult::Popc => u64::from(self.last.0),
            BarrierResult::And => u64::from(self.last.1),
            BarrierResult::Or => u64::from(self.last.2),
        }
    }

    /// Who came first in the round under way, and how many threads the last one counted.
    pub(crate) fn open(&self) -> Option<(Arrival, Option<u32>)> {
        self.first.filter(|_| self.arrived > 0).map(|first| (first, self.expected))
    }

    /// Who came first, where threads wait for every live one of the block.
    pub(crate) fn waits_for_all(&self) -> Option<Arrival> {
        self.first.filter(|_| self.arrived > 0 && self.expected.is_none())
    }

    /// Threads arrive, `truths` of `lanes` of them with a true predicate.
    pub(crate) fn arrive(&mut self, threads: u32, lanes: u32, truths: u32, expected: Option<u32>, waits: bool) {
        if self.arrived == 0 {
            (self.popc, self.all, self.any) = (0, true, false);
            self.waiting = 0;
        }
        self.arrived += threads;
        self.waiting += if waits { lanes } else { 0 };
        self.expected = expected;
        self.popc += truths;
        self.all &= truths == lanes;
        self.any |= truths != 0;
    }

    /// Completes it if enough have arrived.
    fn settle(&mut self, live: u32) -> bool {
        let complete = self.arrived > 0 && self.arrived >= self.expected.unwrap_or(live);
        if complete {
            self.last = (self.popc, self.all, self.any);
            self.arrived = 0;
            self.first = None;
            self.round += 1;
        }
        complete
    }
}

impl Common {
    /// Completes the barriers at which enough threads have arrived.
    pub(crate) fn settle(&mut self) {
        for (id, barrier) in self.barriers.iter_mut().enumerate() {
            // Of those that have arrived, all wait if nobody has only announced itself. A barrier that counts does not know of
            // threads that have exited.
            let whole = barrier.expected.is_none() || [barrier.waiting, barrier.arrived] == [self.threads; 2];
            if barrier.settle(self.live) {
                self.passed = true;
                self.checks.races.complete(id as u32, whole);
            }
        }
    }
}

#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) index: u64,
    pub(crate) common: Common,
    pub(crate) warps: Vec<Warp>,
    /// Instructions spent on nothing but waiting for other blocks: how many there are is the schedule's doing.
    excused: u64,
}

/// How far a block has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    Finished,
    /// Waits for other blocks, or has run long enough for now.
    Suspended,
}

/// Instructions of a warp's turn, and where blocks communicate.
const TURN: u64 = 1 << 14;
const SHORT_TURN: u64 = 1 << 11;
/// Instructions after which a block lets the others of its grid run, as it may be waiting for one of them in a way that
/// nobody can tell from work.
const SHARE: u64 = 1 << 15;
/// How often a split looks for what it waits for before others run; and in a block that has waited in vain.
const PATIENCE: u32 = 32;
const IMPATIENCE: u32 = 4;

impl Block {
    /// Room for a block; [`Block::start`] makes it one.
    pub(crate) fn new(worker: &Worker<'_>) -> Self {
        let run = worker.run;
        let common = Common {
            id: [0; 3],
            shared: vec![0; run.shared_bytes.div_ceil(4) as usize],
            barriers: [Barrier::default(); 16],
            threads: run.threads,
            live: 0,
            waits: 0,
            patience: PATIENCE,
            took: false,
            takes: 0,
            passed: false,
            gone: Vec::new(),
            output: String::new(),
            checks: BlockChecks::new(run),
        };
        let warps = (0..run.warps).map(|w| Warp::new(worker, w)).collect();
        Self { index: 0, common, warps, excused: 0 }
    }

    pub(crate) fn start(&mut self, worker: &Worker<'_>, index: u64) {
        self.index = index;
        self.common.id = worker.run.block(index);
        // Shared memory holds nothing in particular at first; zero, so that every run is alike.
        self.common.shared.fill(0);
        self.common.barriers = [Barrier::default(); 16];
        self.common.live = worker.run.threads;
        self.common.gone.clear();
        (self.common.patience, self.common.takes) = (PATIENCE, 0);
        self.excused = 0;
        self.common.output.clear();
        self.common.checks.start(worker.run, index);
        for warp in &mut self.warps {
            warp.start(worker, self.common.id);
        }
    }

    /// Runs to the end; with `yields`, until it only waits or has had its share.
    pub(crate) fn run(&mut self, worker: &mut Worker<'_>, yields: bool) -> Trapped<Progress> {
        let (mut executed, mut turn) = (0, 0);
        let quantum = if yields { SHORT_TURN } else { TURN };
        (self.common.passed, self.common.took) = (false, false);
        worker.block = self.index;
        loop {
            let mut ran = false;
            self.common.waits = 0;
            for warp in &mut self.warps {
                if warp.done() {
                    continue;
                }
                let before = warp.clock;
                worker.warp = warp.index;
                ran |= warp.run(worker, &mut self.common, quantum)?;
                executed += warp.clock - before;
            }
            if self.warps.iter().all(Warp::done) {
                let over = worker.spend(executed);
                worker.spent += executed;
                return if over { Err(too_long(worker)) } else { Ok(Progress::Finished) };
            }
            if !ran {
                return Err(self.deadlock(worker));
            }
            let alone = self.spent() > worker.run.block_budget;
            if alone || worker.spend(executed) {
                worker.spent += executed;
                let limit = if alone { worker.run.block_budget } else { worker.run.budget };
                return Err(endless::trap(self, worker, limit));
            }
            worker.spent += executed;
            turn += executed;
            if yields && (self.common.waits > 0 || self.common.took || turn > SHARE) {
                return Ok(Progress::Suspended);
            }
            executed = 0;
        }
    }

    /// Instructions of the block but for those spent on waiting for others.
    fn spent(&self) -> u64 {
        let executed: u64 = self.warps.iter().map(|w| w.clock).sum();
        executed.saturating_sub(self.excused)
    }

    /// The last turn got nowhere and cost so many instructions.
    pub(crate) fn waited(&mut self, instructions: u64) {
        self.excused += instructions;
        self.common.patience = IMPATIENCE;
    }

    /// The last turn got somewhere.
    pub(crate) fn advanced(&mut self) {
        self.common.patience = PATIENCE;
    }

    /// The last turn was spent on waiting for other blocks.
    pub(crate) fn waits_in_vain(&self) -> bool {
        self.common.waits > 0 && !self.common.passed && !self.common.took && !self.warps.iter().all(Warp::done)
    }

    fn splits(&self) -> impl Iterator<Item = (&Warp, &Split)> {
        self.warps.iter().flat_map(|w| w.splits.iter().map(move |s| (w, s)))
    }

    /// Nobody can move: says where everyone stands.
    fn deadlock(&self, worker: &mut Worker<'_>) -> Box<Trap> {
        let code = worker.run.code;
        let op = |split: &Split| match code.insts.get(split.pc as usize).map(|i| i.op) {
            Some(crate::code::MicroOp::Slow(index)) => code.slow.get(index as usize),
            _ => None,
        };
        let before_barrier = |split: &Split| matches!(op(split), Some(SlowOp::Barrier { .. }));
        let gathering = || self.splits().filter(|(_, s)| s.state == State::Gathering);
        let at_barrier = gathering().find(|(_, s)| before_barrier(s));
        // Lanes that a warp operation waits for while they stand before a barrier: the mask is wrong, not the barrier.
        let in_vain = at_barrier.and_then(|(w, _)| gathering().find(|(v, s)| v.index == w.index && !before_barrier(s)));
        let first = in_vain.or(at_barrier).or(gathering().next()).or(self.splits().next());
        let standstill = self.standstill();
        let Some((warp, split)) = first else {
            return Trap::new(Sync::Deadlock { waiting: None, barrier: None, standstill }, 0);
        };
        worker.warp = warp.index;
        let waiting = Lanes { warp: warp.index, mask: split.mask };
        let kind = if in_vain.is_some() {
            Sync::MaskNamesAbsent { waiting, standstill }
        } else if at_barrier.is_some() {
            let another = gathering().any(|(_, s)| before_barrier(s) && s.pc != split.pc);
            Sync::DivergentBarrier { waiting, another, standstill }
        } else {
            let barrier = match split.state {
                State::Barrier { id, .. } => Some(id),
                _ => None,
            };
            Sync::Deadlock { waiting: Some(waiting), barrier, standstill }
        };
        let here = |s: &Split| if let State::Barrier { at, .. } = s.state { at } else { s.pc };
        let mut trap = Trap::new(kind, split.mask).at(here(split));
        let others = self.splits().filter(|(w, s)| (w.index, s.mask) != (warp.index, split.mask));
        // Warps that wait together are one party.
        let mut told: Vec<(u32, Waits, Lanes, u32)> = Vec::new();
        for (w, s) in others {
            let waits = match s.state {
                State::Barrier { id, .. } => Waits::AtBarrier(id),
                _ if before_barrier(s) => Waits::BeforeBarrier,
                _ => Waits::ForLanes,
            };
            let at = here(s);
            match told.iter_mut().find(|t| (t.0, t.1) == (at, waits)) {
                Some(same) => same.3 += 1,
                None => told.push((at, waits, Lanes { warp: w.index, mask: s.mask }, 0)),
            }
        }
        for (pc, waits, lanes, more) in told.into_iter().take(8) {
            let thread = Some(32 * lanes.warp + lanes.mask.trailing_zeros());
            let role = Role::Waiting { lanes, waits, more };
            trap = trap.party(Party { role, pc, block: Some(self.index), thread });
        }
        trap
    }

    fn standstill(&self) -> Standstill {
        let barriers = self.common.barriers.iter().enumerate().filter(|(_, b)| b.arrived > 0);
        Standstill {
            barriers: barriers
                .map(|(id, barrier)| Arrivals {
                    id: id as u32,
                    arrived: barrier.arrived,
                    expected: barrier.expected.unwrap_or(self.common.live),
                })
                .collect(),
            exited: self.warps.iter().map(|w| w.exited().count_ones()).sum(),
        }
    }
}

/// The fault of a launch whose blocks end, but are too many or too long together.
fn too_long(worker: &mut Worker<'_>) -> Box<Trap> {
    let run = worker.run;
    worker.warp = 0;
    let start = run.code.function(run.code.entry).map_or(0, |entry| entry.start);
    Trap::new(Sync::TooMuchWork { blocks: run.blocks, budget: run.budget }, 1).at(start)
}

/// Two warps at different barriers of the source that are one to the hardware.
pub(crate) fn mismatch(worker: &mut Worker<'_>, lanes: u32, id: u32, at: u32, first: Arrival) {
    let run = worker.run;
    let location = |pc: u32| {
        let loc = run.code.origins.get(pc as usize)?.loc?;
        run.module.locations.get(loc.index()).map(|l| (l.file, l.line, l.column))
    };
    // A barrier that the compiler has made two of.
    if location(at).is_some() && location(at) == location(first.pc) {
        return;
    }
    let site = Site { code: Code::BarrierMismatch, pc: at, other: first.pc };
    let (block, warp) = (worker.block, worker.warp);
    worker.findings.add(site, block, warp, u64::from(lanes.count_ones()), || {
        Trap::new(Sync::Mismatch { id, warp }, lanes).at(at).party(Party {
            role: Role::OtherBarrier { warp: first.thread / 32 },
            pc: first.pc,
            block: Some(block),
            thread: Some(first.thread),
        })
    });
}

/// Warps at one barrier of which each counts other threads.
pub(crate) fn miscount(
    worker: &mut Worker<'_>,
    lanes: u32,
    at: u32,
    id: u32,
    [threads, others]: [u32; 2],
    first: Arrival,
) {
    let site = Site { code: Code::BarrierRounds, pc: at, other: first.pc };
    let (block, warp) = (worker.block, worker.warp);
    worker.findings.add(site, block, warp, u64::from(lanes.count_ones()), || {
        Trap::new(Sync::Miscount { id, warp, threads }, lanes).at(at).party(Party {
            role: Role::OtherCount { warp: first.thread / 32, threads: others },
            pc: first.pc,
            block: Some(block),
            thread: Some(first.thread),
        })
    });
}

/// A warp comes to a round of a barrier, and could have come to the one before in the place of another.
pub(crate) fn overtaken(worker: &mut Worker<'_>, lanes: u32, at: u32, other: Came) {
    let site = Site { code: Code::BarrierRounds, pc: at, other: other.pc };
    let (block, warp) = (worker.block, worker.warp);
    let Came { barrier: id, threads, pc, thread, .. } = other;
    worker.findings.add(site, block, warp, u64::from(lanes.count_ones()), || {
        Trap::new(Sync::MixedRounds { id, warp, threads, other: other.warp }, lanes).at(at).party(Party {
            role: Role::RoundBefore { warp: other.warp },
            pc,
            block: Some(block),
            thread: Some(thread),
        })
    });
}
