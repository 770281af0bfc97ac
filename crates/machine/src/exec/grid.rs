//! A launch: its blocks, in order, on as many workers as there are cores.
//!
//! Race-free blocks give the same result in any order, so blocks that do not communicate run in
//! parallel. Blocks that do (atomics, fences, volatile accesses, cooperative launches) run on one
//! worker in a fixed order, each until it only waits; that makes every run alike.

mod block;
mod endless;
mod unit;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use super::check::{Recording, Tally, Trace};
use super::context::Worker;
use super::fault::finding::Findings;
use super::fault::trap::Trap;
use super::state::run::Run;
use crate::report::Counters;
use block::Progress;
use unit::Unit;

/// A trap with the block and warp in which it happened.
#[derive(Debug)]
pub(crate) struct Stopped {
    pub(crate) block: u64,
    pub(crate) warp: u32,
    pub(crate) trap: Box<Trap>,
}

/// What a launch left behind.
pub(crate) struct Outcome {
    pub(crate) counters: Counters,
    pub(crate) output: String,
    pub(crate) stopped: Option<Stopped>,
    /// Indices of the regions that were touched.
    pub(crate) touched: Vec<bool>,
    pub(crate) findings: Findings,
    pub(crate) trace: Trace,
    pub(crate) tally: Tally,
    /// Where the shared memory ends that any block has touched.
    pub(crate) shared_end: u64,
    /// Of the blocks for which it was asked, in their order.
    pub(crate) recordings: Vec<(u64, Box<Recording>)>,
}

#[derive(Default)]
struct Gathered {
    counters: Counters,
    output: Vec<(u64, String)>,
    stopped: Option<Stopped>,
    touched: Vec<bool>,
    findings: Findings,
    trace: Trace,
    tally: Tally,
    shared_end: u64,
    recordings: Vec<(u64, Box<Recording>)>,
}

impl Gathered {
    fn worker(&mut self, mut worker: Worker<'_>) {
        self.recordings.append(&mut worker.watch.recordings());
        let (findings, trace, tally) = worker.watch.finish();
        self.findings.merge(findings);
        self.trace.merge(trace);
        self.tally.merge(tally);
        self.shared_end = self.shared_end.max(worker.shared_end);
        self.counters += worker.counters;
        self.touched.resize(worker.windows.len(), false);
        for (touched, window) in self.touched.iter_mut().zip(&worker.windows) {
            *touched |= window.touched;
        }
    }

    /// Keeps the first block's trap, whoever comes first.
    fn stop(&mut self, stopped: Stopped) {
        if self.stopped.as_ref().is_none_or(|s| stopped.block < s.block) {
            self.stopped = Some(stopped);
        }
    }
}

/// Runs every block, or the only one that is asked for.
pub(crate) fn run(run: &Run<'_>) -> Outcome {
    let gathered = match run.alone {
        Some(block) => alone(run, block),
        None if run.code.communicates || run.launch.cooperative => serial(run),
        None => parallel(run),
    };
    let Gathered { counters, mut output, stopped, mut touched, findings, trace, tally, shared_end, mut recordings } =
        gathered;
    recordings.sort_by_key(|(block, _)| *block);
    output.sort_by_key(|(block, _)| *block);
    let last = stopped.as_ref().map_or(u64::MAX, |s| s.block);
    let output = output.into_iter().filter(|(block, _)| *block <= last).map(|(_, text)| text).collect();
    touched.resize(run.regions.len(), false);
    Outcome { counters, output, stopped, touched, findings, trace, tally, shared_end, recordings }
}

fn parallel(run: &Run<'_>) -> Gathered {
    let gathered = Mutex::new(Gathered::default());
    let next = AtomicU64::new(0);
    let units = unit::count(run);
    // No unit at or behind this one is begun any more.
    let end = AtomicU64::new(units);
    let work = || {
        let mut worker = Worker::new(run);
        let mut unit = Unit::new(&worker);
        let mut output = Vec::new();
        // Neighbouring blocks share cache lines of the sector bitmaps: a worker takes some at a time.
        let chunk = (units / (8 * run.workers.max(1) as u64)).clamp(1, 64);
        loop {
            let first = next.fetch_add(chunk, Relaxed);
            if first >= end.load(Relaxed) {
                break;
            }
            for index in first..(first + chunk).min(units) {
                if index >= end.load(Relaxed) {
                    break;
                }
                unit.start(&worker, index);
                let result = unit.run(&mut worker, false);
                output.extend(unit.outputs());
                if let Err(trap) = result {
                    end.fetch_min(index, Relaxed);
                    let (block, warp) = (worker.watch.block, worker.watch.warp);
                    let mut gathered = gathered.lock().unwrap_or_else(PoisonError::into_inner);
                    gathered.stop(Stopped { block, warp, trap });
                }
            }
            worker.settle();
        }
        let mut gathered = gathered.lock().unwrap_or_else(PoisonError::into_inner);
        gathered.worker(worker);
        gathered.output.append(&mut output);
    };
    // A thread more is worth its start for a few thousand lanes.
    let worth = run.blocks.saturating_mul(run.warps.into()).div_ceil(64);
    // Which of two racing blocks is found to be late is up to chance; where there is little to do, it need not be.
    let workers = if run.checks.races && run.blocks.saturating_mul(run.threads.into()) < 1 << 16 {
        1
    } else {
        run.workers as u64
    };
    let helpers = workers.min(units).min(worth).saturating_sub(1);
    std::thread::scope(|scope| {
        for _ in 0..helpers {
            // Without a thread more, the work is done all the same.
            let _ = std::thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    gathered.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// One block, with the others of its cluster.
fn alone(run: &Run<'_>, block: u64) -> Gathered {
    let mut gathered = Gathered::default();
    let mut worker = Worker::new(run);
    let mut unit = Unit::new(&worker);
    unit.start(&worker, run.cluster_of(block));
    if let Err(trap) = unit.run(&mut worker, false) {
        gathered.stop(Stopped { block: worker.watch.block, warp: worker.watch.warp, trap });
    }
    gathered.worker(worker);
    gathered
}

fn serial(run: &Run<'_>) -> Gathered {
    let mut gathered = Gathered::default();
    let mut worker = Worker::new(run);
    let mut idle: Vec<Unit> = Vec::new();
    let mut under_way: VecDeque<Unit> = VecDeque::new();
    let mut next = 0;
    let start = |worker: &Worker<'_>, idle: &mut Vec<Unit>, index: u64| {
        let mut unit = idle.pop().unwrap_or_else(|| Unit::new(worker));
        unit.start(worker, index);
        unit
    };
    let units = unit::count(run);
    // The blocks of a cooperative launch are all there from the start.
    let limit = match run.launch.cooperative {
        true => usize::MAX,
        false => (run.resident / run.cluster_size().max(1) as usize).max(1),
    };
    // Warp instructions spent on waiting since a block last got anywhere.
    let mut in_vain = 0;
    // A block that waits, has had its share or has taken work from a queue lets the next one begin: those that fit on the
    // device at once are all there before one of them goes on.
    let mut room = true;
    loop {
        if next < units && (under_way.is_empty() || room && under_way.len() < limit) {
            under_way.push_front(start(&worker, &mut idle, next));
            next += 1;
        }
        let Some(mut unit) = under_way.pop_front() else { break };
        let mut result = unit.run(&mut worker, true);
        in_vain = unit.in_vain().map_or(0, |spent| in_vain + spent);
        worker.settle();
        if let Ok(Progress::Suspended) = result
            && in_vain > run.block_budget / 4
        {
            let trap = unit.endless(&mut worker, run.block_budget / 4);
            let (blocks, size) = (under_way.len() as u64 + 1, u64::from(run.cluster_size().max(1)));
            let unstarted = if under_way.len() + 1 >= limit { units - next } else { 0 };
            result = Err(endless::crowded(trap, blocks * size, unstarted * size));
        }
        room = matches!(result, Ok(Progress::Suspended));
        match result {
            Ok(Progress::Suspended | Progress::Blocked) => under_way.push_back(unit),
            Ok(Progress::Finished) => {
                gathered.output.extend(unit.outputs());
                idle.push(unit);
            }
            Err(trap) => {
                gathered.output.extend(unit.outputs());
                gathered.stop(Stopped { block: worker.watch.block, warp: worker.watch.warp, trap });
                break;
            }
        }
    }
    gathered.worker(worker);
    gathered
}
