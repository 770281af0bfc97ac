//! What an instruction reaches beyond its warp: the worker that executes it, and its block.

use std::sync::atomic::Ordering::Relaxed;

use super::check::race::Places;
use super::check::tally::{Tally, Who};
use super::check::trace::Trace;
use super::check::watch::BlockChecks;
use super::fault::finding::Findings;
use super::state::barrier::Barrier;
use super::state::reach::Reach;
use super::state::run::Run;
use super::state::stores::Gone;
use super::state::window::Window;
use crate::report::Counters;

/// One thread of the host that executes blocks.
pub(crate) struct Worker<'a> {
    pub(crate) run: &'a Run<'a>,
    pub(crate) arch: pulp::Arch,
    /// The allocations in order of address; never empty.
    pub(crate) windows: Vec<Window<'a>>,
    /// The allocation that each access hit last.
    pub(crate) cache: Vec<u32>,
    /// The entry of `cache` that atomics share.
    pub(crate) atomic_cache: u32,
    pub(crate) counters: Counters,
    /// The block, warp and instruction that run, for whoever has to say where it happened.
    pub(crate) block: u64,
    pub(crate) warp: u32,
    pub(crate) pc: u32,
    /// Whether some check wants to see accesses to memory.
    pub(crate) watching: bool,
    /// The present instruction has read what was never written.
    pub(crate) undefined: bool,
    pub(crate) findings: Findings,
    /// What of the code stands behind what.
    pub(crate) reach: Reach,
    /// Which bytes were accessed, where somebody wants to know.
    pub(crate) trace: Option<Trace>,
    /// What the advice on speed is made from; empty when nobody wants any.
    pub(crate) tally: Tally,
    /// What threads have left at addresses in global memory for others to know.
    pub(crate) places: Places,
    /// Warp instructions not yet added to the launch's.
    pub(crate) spent: u64,
}

impl<'a> Worker<'a> {
    pub(crate) fn new(run: &'a Run<'a>) -> Self {
        let mut windows: Vec<Window<'a>> = run.regions.iter().map(Window::new).collect();
        windows.push(Window::nothing());
        let accesses = run.code.accesses.len();
        Self {
            run,
            arch: pulp::Arch::new(),
            windows,
            cache: vec![0; accesses + 1],
            atomic_cache: accesses as u32,
            counters: Counters::default(),
            block: 0,
            warp: 0,
            pc: 0,
            watching: run.checks.watch_memory() || run.traced,
            undefined: false,
            findings: Findings::default(),
            reach: Reach::default(),
            trace: run.traced.then(Trace::default),
            tally: if run.checks.performance { Tally::new(run.code.insts.len()) } else { Tally::default() },
            places: Places::default(),
            spent: 0,
        }
    }

    /// Who runs, for the tally.
    #[inline(always)]
    pub(crate) fn who(&self, lanes: u32, addrs: &[u64; 32]) -> Who {
        let addr = addrs[lanes.trailing_zeros() as usize & 31];
        Who { block: self.block, warp: self.warp, lanes, addr }
    }

    /// Whether the launch's budget is used up, were `more` spent too.
    pub(crate) fn spend(&mut self, more: u64) -> bool {
        self.run.spent.load(Relaxed) + self.spent + more > self.run.budget
    }

    pub(crate) fn settle(&mut self) {
        self.run.spent.fetch_add(std::mem::take(&mut self.spent), Relaxed);
    }
}

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
    pub(crate) passed: bool,
    /// Who has exited after a store, one for each place of it.
    pub(crate) gone: Vec<Gone>,
    pub(crate) output: String,
    pub(crate) checks: BlockChecks,
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
