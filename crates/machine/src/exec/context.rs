//! What an instruction reaches beyond its warp: the worker that executes it, and its block.

use std::collections::HashMap;
use std::sync::atomic::Ordering::Relaxed;

use super::check::{BlockChecks, ClusterChecks, Watch};
use super::state::barrier::Barrier;
use super::state::cluster::ClusterBarrier;
use super::state::run::Run;
use super::state::stores::Gone;
use super::state::window::{Window, window_of};
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
    pub(crate) watch: Watch<'a>,
    /// Where the shared memory ends that any lane has touched.
    pub(crate) shared_end: u64,
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
            watch: Watch::new(run),
            shared_end: 0,
            spent: 0,
        }
    }

    /// The allocation that contains an address.
    pub(crate) fn window_of(&self, addr: u64) -> Option<usize> {
        window_of(&self.windows, addr)
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
#[derive(Debug, Default)]
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
    /// Objects that count arrivals, by their addresses: where they were initialised, as long as they are in use.
    pub(crate) objects: HashMap<u64, Option<u32>>,
    /// The last look at one whose phase was not complete.
    pub(crate) looked: Option<Look>,
    /// Somebody has stored something since the block's turn began, or come to such an object.
    pub(crate) stirred: bool,
    /// The block's rank in its cluster, and the cluster itself while the block runs.
    pub(crate) rank: u32,
    pub(crate) cluster: Option<Box<Cluster>>,
}

/// Lanes have looked at an object that counts arrivals, and their phase was not complete.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub(crate) pc: u32,
    pub(crate) warp: u32,
    pub(crate) lanes: u32,
    pub(crate) address: u64,
}

/// What the blocks of a cluster share: their barrier, and the memory of each.
#[derive(Debug, Default)]
pub(crate) struct Cluster {
    pub(crate) barrier: ClusterBarrier,
    pub(crate) checks: ClusterChecks,
    /// By rank. That of the block which runs is not here.
    pub(crate) peers: Vec<Common>,
}

impl Cluster {
    /// Threads of every block meet at the barrier if all have arrived. `own` is the block that runs, for the checks.
    pub(crate) fn settle(&mut self, own: &mut BlockChecks) -> bool {
        let complete = self.barrier.settle();
        if complete {
            self.checks.complete(own, self.peers.iter_mut().map(|peer| &mut peer.checks));
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
                self.checks.complete(id as u32, whole);
            }
        }
    }
}
