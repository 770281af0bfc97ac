//! A block: its warps, its shared memory, its barriers.

use super::collective::waits_in_vain;
use super::fault;
use super::finding::Site;
use super::grid::Worker;
use super::trap::{Party, Trap, Trapped};
use super::warp::{BarrierResult, Split, State, Warp};
use super::watch::BlockChecks;
use crate::code::SlowOp;
use crate::report::Severity;

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
            // Of those that have arrived, all wait if nobody has only announced itself.
            let whole = barrier.expected.is_none() || [barrier.waiting, barrier.arrived] == [self.live; 2];
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
            checks: BlockChecks::new(run),
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
        self.common.checks.start(worker.run, index);
        for warp in &mut self.warps {
            warp.start(worker, self.common.id);
        }
    }

    /// Runs to the end; with `yields`, until it only waits or has had its share.
    pub(crate) fn run(&mut self, worker: &mut Worker<'_>, yields: bool) -> Trapped<Progress> {
        let (mut executed, mut turn) = (0, 0);
        self.common.passed = false;
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
                ran |= warp.run(worker, &mut self.common, TURN)?;
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
        let before_barrier = |split: &Split| matches!(op(split), Some(SlowOp::Barrier { .. }));
        let gathering = || self.splits().filter(|(_, s)| s.state == State::Gathering);
        let at_barrier = gathering().find(|(_, s)| before_barrier(s));
        // Lanes that a warp operation waits for while they stand before a barrier: the mask is wrong, not the barrier.
        let in_vain = at_barrier.and_then(|(w, _)| gathering().find(|(v, s)| v.index == w.index && !before_barrier(s)));
        let first = in_vain.or(at_barrier).or(gathering().next()).or(self.splits().next());
        let Some((warp, split)) = first else { return Trap::new("E-DEADLOCK", 0, "the block cannot go on") };
        worker.warp = warp.index;
        let lanes = fault::lane_list(split.mask);
        let trap = if in_vain.is_some() {
            waits_in_vain(split.mask, warp.index)
        } else if at_barrier.is_some() {
            let another = gathering().any(|(_, s)| before_barrier(s) && s.pc != split.pc);
            Trap::new("E-BARRIER-DIVERGENT", split.mask, "a barrier in divergent code")
                .label(format!("{lanes} of warp {} wait here", warp.index))
                .note(match another {
                    true => "two barriers, one on either side of a branch, are not one: each waits for all threads".to_string(),
                    false => format!(
                        "{lanes} of warp {} wait at the barrier; the warp's other threads never come to it",
                        warp.index
                    ),
                })
                .note("every thread of the block must reach the same `__syncthreads()`")
                .help("move the barrier out of the condition, so that threads with nothing to do wait there too, and guard what follows it again")
        } else {
            let label = match split.state {
                State::Barrier { id, .. } => format!("{lanes} of warp {} wait at barrier {id} here", warp.index),
                _ => format!("{lanes} of warp {} wait here for other lanes", warp.index),
            };
            Trap::new("E-DEADLOCK", split.mask, "every thread of the block waits for another").label(label).help(
                "let all who take part come to the same barriers in the same order, as many threads as each counts",
            )
        };
        let here = |s: &Split| if let State::Barrier { at, .. } = s.state { at } else { s.pc };
        let mut trap = trap.at(here(split));
        let others = self.splits().filter(|(w, s)| (w.index, s.mask) != (warp.index, split.mask));
        // Warps that wait together are one party.
        let mut told: Vec<(u32, String, Party, u32)> = Vec::new();
        for (w, s) in others {
            let what = match s.state {
                State::Barrier { id, .. } => format!("at barrier {id}"),
                _ if before_barrier(s) => "before this barrier for the rest of the warp".into(),
                _ => "for other lanes of the warp".into(),
            };
            let at = here(s);
            if let Some(same) = told.iter_mut().find(|t| t.0 == at && t.1 == what) {
                same.3 += 1;
                continue;
            }
            let label = format!("{} of warp {} wait {what}", fault::lane_list(s.mask), w.index);
            let thread = Some(32 * w.index + s.mask.trailing_zeros());
            told.push((at, what, Party { label, pc: at, block: Some(self.index), thread }, 0));
        }
        for (.., mut party, more) in told.into_iter().take(8) {
            match more {
                0 => {}
                1 => party.label += ", and so does another warp",
                n => party.label += &format!(", and so do {n} other warps"),
            }
            trap = trap.party(party);
        }
        for (id, barrier) in self.common.barriers.iter().enumerate().filter(|(_, b)| b.arrived > 0) {
            let wanted = barrier.expected.unwrap_or(self.common.live);
            trap = trap.note(format!("barrier {id} has {} of the {wanted} threads that it waits for", barrier.arrived));
        }
        let exited: u32 = self.warps.iter().map(|w| w.exited().count_ones()).sum();
        match exited {
            0 => trap,
            1 => trap.note("1 thread of the block has exited: nobody waits for it"),
            n => trap.note(format!("{n} threads of the block have exited: nobody waits for them")),
        }
    }
}

/// The fault of a launch whose blocks end, but are too many or too long together.
fn too_long(worker: &mut Worker<'_>) -> Box<Trap> {
    let run = worker.run;
    worker.warp = 0;
    let start = run.code.function(run.code.entry).map_or(0, |entry| entry.start);
    Trap::new("E-BUDGET", 1, "the launch executes more than its budget")
        .at(start)
        .note(format!("{} blocks may execute {} warp instructions together; this block ended, and others were still to come or running", run.blocks, run.budget))
        .help("give every thread less to do, or the launch less data; where the work is needed, allow more with `instruction_budget`")
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
    let site = Site { code: "E-BARRIER-MISMATCH", pc: at, other: first.pc };
    let (block, warp) = (worker.block, worker.warp);
    worker.findings.add(site, block, warp, u64::from(lanes.count_ones()), || {
        let trap = Trap::new("E-BARRIER-MISMATCH", lanes, "warps of a block wait at different barriers")
            .at(at)
            .label(format!("warp {warp} comes to this one"))
            .party(Party {
                label: format!("warp {} waits at this one", first.thread / 32),
                pc: first.pc,
                block: Some(block),
                thread: Some(first.thread),
            })
            .note(format!(
                "both are barrier {id}, and the hardware counts who arrives, not where: the two let each other go on, and \
                 later barriers may pair up wrongly too"
            ))
            .help("let every thread of the block reach the same `__syncthreads()`: put one behind the branches");
        (Severity::Error, trap)
    });
}
