//! A block: its warps, its shared memory, its barriers.

use super::endless;
use crate::exec::check::BlockChecks;
use crate::exec::context::{Common, Worker};
use crate::exec::fault::trap::{Trap, Trapped};
use crate::exec::state::barrier::Barrier;
use crate::exec::state::run::Run;
use crate::exec::state::warp::Warp;
use crate::exec::step::turn;
use crate::exec::sync::mbarrier;
use crate::exec::sync::standstill::{self, Stand};
use crate::report::kind::Sync;

#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) index: u64,
    pub(crate) common: Common,
    pub(crate) warps: Vec<Warp>,
    /// Instructions spent on nothing but waiting for other blocks: how many there are is the schedule's doing.
    excused: u64,
    /// Instructions spent in a row on nothing but looks at objects that count arrivals.
    idle: u64,
}

/// How far a block has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    Finished,
    /// Waits for other blocks, or has run long enough for now.
    Suspended,
    /// Can do nothing before other blocks of its cluster have done something.
    Blocked,
}

/// Instructions of a warp's turn, and where blocks communicate.
const TURN: u64 = 1 << 14;
const SHORT_TURN: u64 = 1 << 11;
/// Instructions after which a block lets the others of its grid run, as it may be waiting for one of them in a way that
/// nobody can tell from work.
const SHARE: u64 = 1 << 15;
/// Instructions of looks in vain after which nobody waits for anything to come.
const IDLE: u64 = 1 << 16;
/// How often a split looks for what it waits for before others run; and in a block that has waited in vain.
const PATIENCE: u32 = 32;
const IMPATIENCE: u32 = 4;

impl Block {
    /// Room for a block; [`Block::start`] makes it one.
    pub(crate) fn new(worker: &Worker<'_>) -> Self {
        let run = worker.run;
        let common = Common {
            shared: vec![0; run.shared_bytes.div_ceil(4) as usize],
            threads: run.threads,
            patience: PATIENCE,
            checks: BlockChecks::new(run),
            ..Common::default()
        };
        let warps = (0..run.warps).map(|w| Warp::new(run, w)).collect();
        Self { index: 0, common, warps, excused: 0, idle: 0 }
    }

    pub(crate) fn start(&mut self, worker: &Worker<'_>, index: u64) {
        self.index = index;
        self.common.id = worker.run.block(index);
        // Shared memory holds nothing in particular at first; zero, so that every run is alike.
        self.common.shared.fill(0);
        self.common.barriers = [Barrier::default(); 16];
        self.common.live = worker.run.threads;
        self.common.rank = worker.run.rank(self.common.id);
        self.common.objects.clear();
        self.common.gone.clear();
        (self.common.patience, self.common.takes) = (PATIENCE, 0);
        (self.excused, self.idle) = (0, 0);
        self.common.output.clear();
        self.common.checks.start(worker.run, index);
        for warp in &mut self.warps {
            warp.start(worker.run, self.common.id);
        }
    }

    /// Runs to the end; with `yields`, until it only waits or has had its share.
    pub(crate) fn run(&mut self, worker: &mut Worker<'_>, yields: bool) -> Trapped<Progress> {
        let (mut executed, mut turn) = (0, 0);
        let quantum = if yields { SHORT_TURN } else { TURN };
        (self.common.passed, self.common.took) = (false, false);
        let mut moved = false;
        worker.watch.enter(self.index);
        loop {
            let (mut ran, mut busy) = (false, false);
            (self.common.waits, self.common.looked, self.common.stirred) = (0, None, false);
            let passed = std::mem::take(&mut self.common.passed);
            for warp in &mut self.warps {
                if warp.done() {
                    continue;
                }
                let before = warp.clock;
                worker.watch.warp = warp.index;
                warp.bypass.stirs = false;
                let goes_on = turn::run(worker, &mut self.common, warp, quantum)?;
                ran |= goes_on;
                busy |= goes_on && warp.waits == 0 || warp.bypass.stirs || warp.has_work();
                executed += warp.clock - before;
            }
            if self.is_done() {
                worker.watch.warpgroups_end(&mut self.common.checks);
                let over = worker.spend(executed);
                worker.spent += executed;
                return if over { Err(too_long(worker)) } else { Ok(Progress::Finished) };
            }
            moved |= ran;
            if !ran {
                if self.common.cluster.is_some() {
                    return Ok(if moved { Progress::Suspended } else { Progress::Blocked });
                }
                let stand = Stand { block: self.index, common: &self.common, warps: &self.warps };
                return Err(standstill::trap(&mut worker.watch, &[stand], None));
            }
            let looks = self.common.looked.is_some() && !busy && !self.common.stirred && !self.common.passed;
            self.common.passed |= passed;
            self.idle = if looks { self.idle + executed } else { 0 };
            if let Some(look) = self.common.looked.filter(|_| self.is_stuck(worker.run) && !self.in_cluster()) {
                return Err(mbarrier::standstill(&mut worker.watch, &self.common, &look));
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

    fn in_cluster(&self) -> bool {
        self.common.cluster.is_some()
    }

    /// Whether it has done nothing for long but to look at objects that count arrivals, and its kernel has no other way to wait for
    /// what somebody else does.
    pub(crate) fn is_stuck(&self, run: &Run<'_>) -> bool {
        self.idle > IDLE && !run.code.waits
    }

    /// Whether the last turn was spent on such looks.
    pub(crate) fn is_idle(&self) -> bool {
        self.idle > 0
    }

    pub(crate) fn is_done(&self) -> bool {
        self.warps.iter().all(Warp::done)
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
        self.common.waits > 0 && !self.common.passed && !self.common.took && !self.is_done()
    }
}

/// The fault of a launch whose blocks end, but are too many or too long together.
fn too_long(worker: &mut Worker<'_>) -> Box<Trap> {
    let run = worker.run;
    worker.watch.warp = 0;
    let start = run.code.function(run.code.entry).map_or(0, |entry| entry.start);
    Trap::new(Sync::TooMuchWork { blocks: run.blocks, budget: run.budget }, 1).at(start)
}
