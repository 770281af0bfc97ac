//! A launch: its blocks, in order, on as many workers as there are cores.
//!
//! Race-free blocks give the same result in any order, so blocks that do not communicate run in
//! parallel. Blocks that do (atomics, fences, volatile accesses, cooperative launches) run on one
//! worker in a fixed order, each until it only waits; that makes every run alike.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use fusion_ptx::ast::Module;

use super::block::{Block, Progress, endless};
use super::bypass::Reach;
use super::finding::Findings;
use super::race::Places;
use super::tally::{Tally, Who};
use super::trace::Trace;
use super::trap::Trap;
use super::window::Window;
use crate::code::Code;
use crate::machine::{Checks, Launch, ParamInfo};
use crate::memory::{Heap, Memory, Region};
use crate::report::{Counters, Name};

/// What every worker of a launch shares.
pub(crate) struct Run<'a> {
    pub(crate) code: &'a Code,
    pub(crate) module: &'a Module,
    pub(crate) launch: &'a Launch,
    pub(crate) params: &'a [u8],
    pub(crate) memory: &'a Memory,
    pub(crate) regions: &'a [Arc<Region>],
    /// The kernel's parameters.
    pub(crate) arguments: &'a [ParamInfo],
    /// Base addresses and names of the module's variables, for messages.
    pub(crate) names: &'a [(u64, String)],
    /// Threads and warps of a block, blocks of the grid.
    pub(crate) threads: u32,
    pub(crate) warps: u32,
    pub(crate) blocks: u64,
    pub(crate) shared_bytes: u32,
    /// What the hardware gives for it: whole units, without and with what the system reserves.
    pub(crate) shared_given: (u32, u32),
    pub(crate) sms: u32,
    pub(crate) clock_khz: u32,
    pub(crate) grid_id: u64,
    /// What kernels have taken with `malloc`, once one that does was launched.
    pub(crate) heap: Option<&'a Mutex<Heap>>,
    /// Address of a cooperative launch's barrier; 0 for other launches.
    pub(crate) workspace: u64,
    /// Warp instructions of one block, and of all.
    pub(crate) block_budget: u64,
    pub(crate) budget: u64,
    pub(crate) workers: usize,
    /// Blocks that may be under way at once when they wait for each other.
    pub(crate) resident: usize,
    pub(crate) spent: AtomicU64,
    pub(crate) checks: Checks,
    /// Whether the bytes that are accessed are noted.
    pub(crate) traced: bool,
}

impl Run<'_> {
    /// Does something with the heap, if there is one.
    pub(crate) fn with_heap<T>(&self, f: impl FnOnce(&mut Heap) -> T) -> Option<T> {
        self.heap.map(|heap| f(&mut heap.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// The index of a block in the grid's order.
    pub(crate) fn linear(&self, block: [u32; 3]) -> u64 {
        let [x, y, _] = self.launch.grid.map(u64::from);
        u64::from(block[0]) + x * (u64::from(block[1]) + y * u64::from(block[2]))
    }

    pub(crate) fn block(&self, index: u64) -> [u32; 3] {
        let [x, y, _] = self.launch.grid.map(|n| u64::from(n).max(1));
        [(index % x) as u32, (index / x % y) as u32, (index / x / y) as u32]
    }

    /// A thread of the block by its place in the block's order.
    pub(crate) fn thread(&self, linear: u32) -> [u32; 3] {
        let [x, y, _] = self.launch.block.map(|n| n.max(1));
        [linear % x, linear / x % y, linear / x / y]
    }

    /// What a parameter is called, by its index.
    pub(crate) fn argument(&self, index: usize) -> Name {
        let name = self.arguments.get(index).and_then(|p| p.argument.clone());
        name.map_or(Name::Argument(index as u32), Name::Parameter)
    }

    /// Whether an instruction belongs to what cooperative groups do in a launch that is not cooperative: a trap there
    /// is a barrier of the grid, which has none.
    pub(crate) fn is_grid_barrier(&self, pc: u32) -> bool {
        let loc = self.code.origins.get(pc as usize).and_then(|o| o.loc);
        let location = loc.and_then(|l| self.module.locations.get(l.index()));
        let file = location.and_then(|l| self.module.files.get(l.file.index()));
        !self.launch.cooperative && file.is_some_and(|file| file.path.contains("cooperative_groups"))
    }

    /// Whether two instructions are of one line of the source.
    pub(crate) fn same_line(&self, one: u32, other: u32) -> bool {
        let line = |pc: u32| {
            let loc = self.code.origins.get(pc as usize)?.loc?;
            self.module.locations.get(loc.index()).map(|location| (location.file, location.line))
        };
        one == other || line(one).is_some_and(|line_of_one| line(other) == Some(line_of_one))
    }
}

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
    fn new(run: &'a Run<'a>) -> Self {
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

    fn settle(&mut self) {
        self.run.spent.fetch_add(std::mem::take(&mut self.spent), Relaxed);
    }
}

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
}

impl Gathered {
    fn worker(&mut self, worker: Worker<'_>) {
        self.findings.merge(worker.findings);
        self.trace.merge(worker.trace.unwrap_or_default());
        self.tally.merge(worker.tally);
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

/// Runs every block.
pub(crate) fn run(run: &Run<'_>) -> Outcome {
    let gathered = if run.code.communicates || run.launch.cooperative { serial(run) } else { parallel(run) };
    let Gathered { counters, mut output, stopped, mut touched, findings, trace, tally } = gathered;
    output.sort_by_key(|(block, _)| *block);
    let last = stopped.as_ref().map_or(u64::MAX, |s| s.block);
    let output = output.into_iter().filter(|(block, _)| *block <= last).map(|(_, text)| text).collect();
    touched.resize(run.regions.len(), false);
    Outcome { counters, output, stopped, touched, findings, trace, tally }
}

fn parallel(run: &Run<'_>) -> Gathered {
    let gathered = Mutex::new(Gathered::default());
    let next = AtomicU64::new(0);
    // No block at or behind this one is begun any more.
    let end = AtomicU64::new(run.blocks);
    let work = || {
        let mut worker = Worker::new(run);
        let mut block = Block::new(&worker);
        let mut output = Vec::new();
        // Neighbouring blocks share cache lines of the sector bitmaps: a worker takes some at a time.
        let chunk = (run.blocks / (8 * run.workers.max(1) as u64)).clamp(1, 64);
        loop {
            let first = next.fetch_add(chunk, Relaxed);
            if first >= end.load(Relaxed) {
                break;
            }
            for index in first..(first + chunk).min(run.blocks) {
                if index >= end.load(Relaxed) {
                    break;
                }
                block.start(&worker, index);
                let result = block.run(&mut worker, false);
                if !block.common.output.is_empty() {
                    output.push((index, std::mem::take(&mut block.common.output)));
                }
                if let Err(trap) = result {
                    end.fetch_min(index, Relaxed);
                    let warp = worker.warp;
                    let mut gathered = gathered.lock().unwrap_or_else(PoisonError::into_inner);
                    gathered.stop(Stopped { block: index, warp, trap });
                }
            }
            worker.settle();
        }
        let mut gathered = gathered.lock().unwrap_or_else(PoisonError::into_inner);
        gathered.worker(worker);
        gathered.output.append(&mut output);
    };
    // A thread more is worth its start for a few thousand lanes.
    let worth = (run.blocks * u64::from(run.warps)).div_ceil(64);
    // Which of two racing blocks is found to be late is up to chance; where there is little to do, it need not be.
    let workers =
        if run.checks.races && run.blocks * u64::from(run.threads) < 1 << 16 { 1 } else { run.workers as u64 };
    let helpers = workers.min(run.blocks).min(worth).saturating_sub(1);
    std::thread::scope(|scope| {
        for _ in 0..helpers {
            // Without a thread more, the work is done all the same.
            let _ = std::thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    gathered.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn serial(run: &Run<'_>) -> Gathered {
    let mut gathered = Gathered::default();
    let mut worker = Worker::new(run);
    let mut idle: Vec<Block> = Vec::new();
    let mut under_way: VecDeque<Block> = VecDeque::new();
    let mut next = 0;
    let start = |worker: &Worker<'_>, idle: &mut Vec<Block>, index: u64| {
        let mut block = idle.pop().unwrap_or_else(|| Block::new(worker));
        block.start(worker, index);
        block
    };
    // The blocks of a cooperative launch are all there from the start.
    let limit = if run.launch.cooperative { usize::MAX } else { run.resident.max(1) };
    // Warp instructions spent on waiting since a block last got anywhere.
    let mut in_vain = 0;
    // A block that waits, has had its share or has taken work from a queue lets the next one begin: those that fit on the
    // device at once are all there before one of them goes on.
    let mut room = true;
    loop {
        if next < run.blocks && (under_way.is_empty() || room && under_way.len() < limit) {
            under_way.push_front(start(&worker, &mut idle, next));
            next += 1;
        }
        let Some(mut block) = under_way.pop_front() else { break };
        let mut result = block.run(&mut worker, true);
        if block.waits_in_vain() {
            // What it costs to wait depends on the schedule, so that it is nobody's budget.
            let spent = std::mem::take(&mut worker.spent);
            in_vain += spent;
            block.waited(spent);
        } else {
            in_vain = 0;
            block.advanced();
        }
        worker.settle();
        if let Ok(Progress::Suspended) = result
            && in_vain > run.block_budget / 4
        {
            result = Err(endless::trap(&mut block, &mut worker, run.block_budget / 4));
        }
        room = matches!(result, Ok(Progress::Suspended));
        match result {
            Ok(Progress::Suspended) => {
                under_way.push_back(block);
            }
            Ok(Progress::Finished) => {
                if !block.common.output.is_empty() {
                    gathered.output.push((block.index, std::mem::take(&mut block.common.output)));
                }
                idle.push(block);
            }
            Err(trap) => {
                gathered.output.push((block.index, std::mem::take(&mut block.common.output)));
                gathered.stop(Stopped { block: block.index, warp: worker.warp, trap });
                break;
            }
        }
    }
    gathered.worker(worker);
    gathered
}
