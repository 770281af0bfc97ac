//! What is begun at once, and ends together: a block, or all blocks of a cluster, which take turns on one worker.

use super::block::{Block, Progress};
use super::endless;
use crate::exec::context::{Cluster, Worker};
use crate::exec::fault::trap::{Trap, Trapped};
use crate::exec::state::cluster::ClusterBarrier;
use crate::exec::state::run::Run;
use crate::exec::sync::{mbarrier, standstill};

#[derive(Debug)]
pub(crate) struct Unit {
    /// By rank.
    blocks: Vec<Block>,
    /// Where a kernel has something to do with clusters. The block that runs has it, with what is common to the threads of each other one.
    cluster: Option<Box<Cluster>>,
    /// Warp instructions that the last turn spent on waiting in vain; none if it got somewhere.
    vain: Option<u64>,
}

/// How many units a launch has.
pub(crate) fn count(run: &Run<'_>) -> u64 {
    run.blocks / u64::from(run.cluster_size().max(1))
}

impl Unit {
    /// Room for one; [`Unit::start`] makes it one.
    pub(crate) fn new(worker: &Worker<'_>) -> Self {
        let run = worker.run;
        let blocks: Vec<Block> = (0..run.cluster_size().max(1)).map(|_| Block::new(worker)).collect();
        let clustered = run.cluster_size() > 1 || run.code.cluster_barriers;
        let cluster = clustered.then(|| {
            let peers = blocks.iter().map(|_| Default::default()).collect();
            Box::new(Cluster { peers, ..Cluster::default() })
        });
        Self { blocks, cluster, vain: None }
    }

    pub(crate) fn start(&mut self, worker: &Worker<'_>, index: u64) {
        let run = worker.run;
        for (rank, block) in self.blocks.iter_mut().enumerate() {
            block.start(worker, run.member(index, rank as u32));
        }
        if let Some(cluster) = &mut self.cluster {
            let live = run.threads * self.blocks.len() as u32;
            cluster.barrier = ClusterBarrier { live, ..ClusterBarrier::default() };
            cluster.checks.start();
        }
    }

    /// What its blocks have printed, each with its number.
    pub(crate) fn outputs(&mut self) -> impl Iterator<Item = (u64, String)> {
        let printed = self.blocks.iter_mut().map(|block| (block.index, std::mem::take(&mut block.common.output)));
        printed.filter(|(_, text)| !text.is_empty())
    }

    /// Runs to the end; with `yields`, until it only waits for others or has had its share.
    pub(crate) fn run(&mut self, worker: &mut Worker<'_>, yields: bool) -> Trapped<Progress> {
        if self.cluster.is_none() {
            return match yields {
                true => {
                    self.vain = Some(0);
                    self.turn(worker, 0)
                }
                false => self.blocks[0].run(worker, false),
            };
        }
        let mut in_vain = 0;
        loop {
            self.vain = Some(0);
            let (mut blocked, mut idle) = (true, true);
            for rank in 0..self.blocks.len() {
                if self.blocks[rank].is_done() {
                    continue;
                }
                self.seat(rank);
                let result = self.turn(worker, rank);
                self.unseat(rank);
                let progress = result?;
                blocked &= progress == Progress::Blocked;
                idle &= progress == Progress::Blocked || self.blocks[rank].is_idle();
            }
            if self.blocks.iter().all(Block::is_done) {
                return Ok(Progress::Finished);
            }
            if blocked {
                return Err(self.standstill(worker));
            }
            if let Some(stuck) =
                self.blocks.iter().position(|block| idle && !block.is_done() && block.is_stuck(worker.run))
            {
                let block = &self.blocks[stuck];
                worker.watch.enter(block.index);
                let look = block.common.looked;
                return Err(match look {
                    Some(look) => mbarrier::standstill(&mut worker.watch, &block.common, &look),
                    None => self.standstill(worker),
                });
            }
            if yields {
                return Ok(Progress::Suspended);
            }
            in_vain = self.vain.map_or(0, |spent| in_vain + spent);
            if in_vain > worker.run.block_budget / 4 {
                return Err(self.endless(worker, worker.run.block_budget / 4));
            }
        }
    }

    /// The cluster comes to the block that runs.
    fn seat(&mut self, rank: usize) {
        let Some(mut cluster) = self.cluster.take() else { return };
        exchange(&mut self.blocks, &mut cluster, rank);
        self.blocks[rank].common.cluster = Some(cluster);
    }

    fn unseat(&mut self, rank: usize) {
        let Some(mut cluster) = self.blocks[rank].common.cluster.take() else { return };
        exchange(&mut self.blocks, &mut cluster, rank);
        self.cluster = Some(cluster);
    }

    /// One block's turn.
    fn turn(&mut self, worker: &mut Worker<'_>, rank: usize) -> Trapped<Progress> {
        let (before, block) = (worker.spent, &mut self.blocks[rank]);
        let result = block.run(worker, true);
        if matches!(result, Ok(Progress::Blocked)) {
            return result;
        }
        if block.waits_in_vain() {
            // What it costs to wait depends on the schedule, so that it is nobody's budget.
            let spent = worker.spent.saturating_sub(before);
            worker.spent = before;
            block.waited(spent);
            self.vain = self.vain.map(|vain| vain + spent);
        } else {
            block.advanced();
            self.vain = None;
        }
        result
    }

    /// Instructions of the last turn, if it got nowhere.
    pub(crate) fn in_vain(&self) -> Option<u64> {
        self.vain
    }

    /// The fault of a unit that waits for what does not come.
    pub(crate) fn endless(&mut self, worker: &mut Worker<'_>, limit: u64) -> Box<Trap> {
        let rank = self.blocks.iter().position(|block| !block.is_done()).unwrap_or(0);
        self.seat(rank);
        worker.watch.enter(self.blocks[rank].index);
        let trap = endless::trap(&mut self.blocks[rank], worker, limit);
        self.unseat(rank);
        trap
    }

    fn standstill(&self, worker: &mut Worker<'_>) -> Box<Trap> {
        let blocks: Vec<standstill::Stand<'_>> = self
            .blocks
            .iter()
            .map(|block| standstill::Stand { block: block.index, common: &block.common, warps: &block.warps })
            .collect();
        let barrier = self.cluster.as_ref().map(|cluster| cluster.barrier);
        standstill::trap(&mut worker.watch, &blocks, barrier)
    }
}

/// What is common to the threads of each block but one goes where it can be reached, or back.
fn exchange(blocks: &mut [Block], cluster: &mut Cluster, rank: usize) {
    let pairs = blocks.iter_mut().zip(&mut cluster.peers).enumerate();
    pairs.filter(|(at, _)| *at != rank).for_each(|(_, (block, peer))| std::mem::swap(&mut block.common, peer));
}
