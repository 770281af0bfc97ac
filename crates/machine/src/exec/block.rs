//! A block: its warps, its shared memory, its barriers.

use super::fault;
use super::grid::Worker;
use super::trap::{Trap, Trapped};
use super::warp::{BarrierResult, Split, State, Warp};
use crate::code::SlowOp;

/// What the warps of a block share.
#[derive(Debug)]
pub(crate) struct Common {
    pub(crate) id: [u32; 3],
    pub(crate) shared: Vec<u32>,
    pub(crate) barriers: [Barrier; 16],
    /// Threads that have not exited.
    pub(crate) live: u32,
    /// Instructions by which one waits for others, in this round.
    pub(crate) waits: u32,
    /// A barrier has been completed since the block's turn began.
    passed: bool,
    pub(crate) output: String,
}

/// A named barrier (PTX ISA 9.7.13.1).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Barrier {
    arrived: u32,
    /// How many threads complete it; `None` for every live thread of the block.
    expected: Option<u32>,
    /// How often it has been completed.
    pub(crate) round: u64,
    popc: u32,
    all: bool,
    any: bool,
    last: (u32, bool, bool),
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

    /// Threads arrive, `truths` of `lanes` of them with a true predicate.
    pub(crate) fn arrive(&mut self, threads: u32, lanes: u32, truths: u32, expected: Option<u32>) {
        if self.arrived == 0 {
            (self.popc, self.all, self.any) = (0, true, false);
        }
        self.arrived += threads;
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
            self.round += 1;
        }
        complete
    }
}

impl Common {
    /// Completes the barriers at which enough threads have arrived.
    pub(crate) fn settle(&mut self) {
        for barrier in &mut self.barriers {
            self.passed |= barrier.settle(self.live);
        }
    }
}

#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) index: u64,
    pub(crate) common: Common,
    pub(crate) warps: Vec<Warp>,
}

/// How far a block has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    Finished,
    /// Waits for other blocks, or has run long enough for now.
    Suspended,
}

/// Instructions of a warp's turn.
const TURN: u64 = 1 << 14;
/// Instructions after which a block lets the others of its grid run, as it may be waiting for one of them in a way that
/// nobody can tell from work.
const SHARE: u64 = 1 << 20;

impl Block {
    /// Room for a block; [`Block::start`] makes it one.
    pub(crate) fn new(worker: &Worker<'_>) -> Self {
        let run = worker.run;
        let common = Common {
            id: [0; 3],
            shared: vec![0; run.shared_bytes.div_ceil(4) as usize],
            barriers: [Barrier::default(); 16],
            live: 0,
            waits: 0,
            passed: false,
            output: String::new(),
        };
        let warps = (0..run.warps).map(|w| Warp::new(worker, w)).collect();
        Self { index: 0, common, warps }
    }

    pub(crate) fn start(&mut self, worker: &Worker<'_>, index: u64) {
        self.index = index;
        self.common.id = worker.run.block(index);
        // Shared memory holds nothing in particular at first; zero, so that every run is alike.
        self.common.shared.fill(0);
        self.common.barriers = [Barrier::default(); 16];
        self.common.live = worker.run.threads;
        self.common.output.clear();
        for warp in &mut self.warps {
            warp.start(worker, self.common.id);
        }
    }

    /// Runs to the end; with `yields`, until it only waits or has had its share.
    pub(crate) fn run(&mut self, worker: &mut Worker<'_>, yields: bool) -> Trapped<Progress> {
        let (mut executed, mut turn) = (0, 0);
        self.common.passed = false;
        loop {
            let mut ran = false;
            self.common.waits = 0;
            for warp in &mut self.warps {
                if warp.done() {
                    continue;
                }
                let before = warp.clock;
                worker.warp = warp.index;
                ran |= warp.run(worker, &mut self.common, TURN)?;
                executed += warp.clock - before;
            }
            if self.warps.iter().all(Warp::done) {
                return Ok(Progress::Finished);
            }
            if !ran {
                return Err(self.deadlock(worker));
            }
            let spent: u64 = self.warps.iter().map(|w| w.clock).sum();
            if spent > worker.run.block_budget || worker.spend(executed) {
                worker.spent += executed;
                return Err(self.endless(worker));
            }
            worker.spent += executed;
            turn += executed;
            if yields && (self.common.waits > 0 || turn > SHARE) {
                return Ok(Progress::Suspended);
            }
            executed = 0;
        }
    }

    /// The fault of a block that used up its instructions.
    pub(crate) fn endless(&self, worker: &mut Worker<'_>) -> Box<Trap> {
        let spent: u64 = self.warps.iter().map(|w| w.clock).sum();
        let Some((warp, split)) = self.splits().find(|(_, s)| s.state == State::Ready).or(self.splits().next()) else {
            return Trap::new("E-BUDGET", 0, "the kernel does not end");
        };
        worker.warp = warp.index;
        Trap::new("E-BUDGET", split.mask, "the kernel does not end")
            .at(split.pc)
            .note(format!("stopped when the block had executed {spent} warp instructions; it was here then"))
            .note("a loop whose condition never becomes false, or that waits for what no other thread does?")
    }

    /// The last turn was spent on waiting for other blocks.
    pub(crate) fn waits_in_vain(&self) -> bool {
        self.common.waits > 0 && !self.common.passed && !self.warps.iter().all(Warp::done)
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
        let gathering = || self.splits().filter(|(_, s)| s.state == State::Gathering);
        let at_barrier = gathering().find(|(_, s)| matches!(op(s), Some(SlowOp::Barrier { .. })));
        let first = at_barrier.or(gathering().next()).or(self.splits().next());
        let Some((warp, split)) = first else { return Trap::new("E-DEADLOCK", 0, "the block cannot go on") };
        worker.warp = warp.index;
        let trap = if at_barrier.is_some() {
            Trap::new("E-BARRIER-DIVERGENT", split.mask, "a barrier in divergent code")
                .note(format!(
                    "{} of warp {} wait at the barrier; the warp's other threads never come to it",
                    fault::lane_list(split.mask),
                    warp.index
                ))
                .note("every thread of the block must reach the same __syncthreads(): move it out of the condition")
        } else {
            Trap::new("E-DEADLOCK", split.mask, "every thread of the block waits for another")
        };
        let mut trap = trap.at(if let State::Barrier { at, .. } = split.state { at } else { split.pc });
        for (w, s) in self.splits().take(8) {
            let (what, at) = match s.state {
                State::Barrier { id, at, .. } => (format!("wait at barrier {id}"), at),
                _ if matches!(op(s), Some(SlowOp::Barrier { .. })) => ("stand before a barrier".into(), s.pc),
                _ => ("wait for other lanes of their warp".into(), s.pc),
            };
            let place = worker.run.place(at);
            trap = trap.note(format!("warp {}: {} {what} at {place}", w.index, fault::lane_list(s.mask)));
        }
        if self.warps.iter().any(|w| w.exited() != 0) {
            let exited: u32 = self.warps.iter().map(|w| w.exited().count_ones()).sum();
            trap = trap.note(format!("{exited} threads of the block have exited"));
        }
        trap
    }
}
