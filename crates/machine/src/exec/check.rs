//! What is looked for while a launch goes on.
//!
//! The layers above know [`Watch`], which belongs to a worker, and [`BlockChecks`], which belongs to a block, and tell them
//! what happens. Which check wants to hear of it is known here.

mod cluster;
mod init;
mod lint;
mod race;
mod record;
mod tally;
mod trace;
mod warpgroup;
mod watch;

pub(crate) use cluster::ClusterChecks;
pub(crate) use init::{Origin, Placed};
pub(crate) use race::{Came, Shadow, Visit};
pub(crate) use record::{AtBarrier, AtMbarrier, Line, Path, Phase, Recording, Step};
pub(crate) use tally::{Parting, Requests, Row, Stride, Tally, WIDEST, Who};
pub(crate) use trace::Trace;
pub(crate) use warpgroup::Multiplied;
pub(crate) use watch::{Action, Touch};

use super::fault::finding::Findings;
use super::state::banks::shared_wavefronts;
use super::state::lanes::{Bases, FULL};
use super::state::reach::Reach;
use super::state::run::Run;
use super::state::warp::{Split, Warp};
use crate::code::{Function, Order};
use init::Init;
use race::{Places, Races};
use warpgroup::Warpgroups;

/// What a worker's checks know and have found.
pub(crate) struct Watch<'a> {
    pub(crate) run: &'a Run<'a>,
    /// The block, warp and instruction that run, for whoever has to say where it happened.
    pub(crate) block: u64,
    pub(crate) warp: u32,
    pub(crate) pc: u32,
    /// Whether some check wants to see accesses to memory.
    watching: bool,
    /// The present instruction has read what was never written.
    pub(crate) undefined: bool,
    pub(crate) findings: Findings,
    /// What of the code stands behind what.
    pub(crate) reach: Reach,
    /// Which bytes were accessed, where somebody wants to know.
    trace: Option<Trace>,
    /// What the warps of the block do, where that is recorded.
    record: Option<Box<Recording>>,
    /// The same of blocks before, and of those that let others run.
    recordings: Vec<(u64, Box<Recording>)>,
    /// What the advice on speed is made from; empty when nobody wants any.
    tally: Tally,
    /// What threads have left at addresses in global memory for others to know.
    places: Places,
}

/// What the checks keep about a block.
#[derive(Debug, Default)]
pub(crate) struct BlockChecks {
    races: Option<Box<Races>>,
    init: Option<Box<Init>>,
    /// Where the kernel has products of warp groups.
    warpgroups: Option<Box<Warpgroups>>,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(run: &'a Run<'a>) -> Self {
        Self {
            run,
            block: 0,
            warp: 0,
            pc: 0,
            watching: run.checks.watch_memory() || run.traced,
            undefined: false,
            findings: Findings::default(),
            reach: Reach::default(),
            trace: run.traced.then(Trace::default),
            record: None,
            recordings: Vec::new(),
            tally: if run.checks.performance { Tally::new(run.code.insts.len()) } else { Tally::default() },
            places: Places::default(),
        }
    }

    /// A block begins, or goes on.
    pub(crate) fn enter(&mut self, block: u64) {
        if !self.run.recorded.is_empty() {
            self.keep_recording();
            if self.run.recorded.contains(&block) {
                let known = self.recordings.iter().position(|(known, _)| *known == block);
                let known = known.map(|at| self.recordings.swap_remove(at).1);
                self.record = Some(known.unwrap_or_else(|| Box::new(Recording::new(self.run.warps))));
            }
            self.watching = self.run.checks.watch_memory() || self.run.traced || self.record.is_some();
        }
        self.block = block;
    }

    /// Whether all that the warps of the block do is recorded.
    pub(crate) fn records(&self) -> bool {
        self.record.is_some()
    }

    fn keep_recording(&mut self) {
        let block = self.block;
        self.recordings.extend(self.record.take().map(|record| (block, record)));
    }

    /// What was recorded, by block.
    pub(crate) fn recordings(&mut self) -> Vec<(u64, Box<Recording>)> {
        self.keep_recording();
        std::mem::take(&mut self.recordings)
    }

    /// What there is to tell at the end.
    pub(crate) fn finish(self) -> (Findings, Trace, Tally) {
        (self.findings, self.trace.unwrap_or_default(), self.tally)
    }

    /// A warp's access to memory: each load, store, atomic and copy passes here once, after its bounds and alignment were
    /// found right and before it takes effect.
    #[inline(always)]
    pub(crate) fn touch(&mut self, checks: &mut BlockChecks, touch: &Touch<'_>) {
        if self.watching {
            self.look(checks, touch);
            if let Some(trace) = &mut self.trace {
                trace.note(touch, self.pc);
            }
            if let Some(record) = &mut self.record {
                record.touch(self.warp, touch, |bytes| shared_wavefronts(touch.addrs, touch.mask, bytes));
            }
        }
    }

    /// A piece of one lane's bulk copy, as [`Watch::touch`], of which the bytes before and behind are shown too.
    pub(crate) fn piece(&mut self, checks: &mut BlockChecks, touch: &Touch<'_>) {
        if self.watching {
            self.look(checks, touch);
        }
    }

    /// All pieces of such a copy that lie one behind the other: told where accesses are noted or recorded.
    pub(crate) fn copied(&mut self, touch: &Touch<'_>) {
        if let Some(trace) = &mut self.trace {
            trace.note(touch, self.pc);
        }
        if let Some(record) = &mut self.record {
            record.touch(self.warp, touch, |_| 1);
        }
    }

    /// One lane's bulk copy reads shared memory, where it sees what fences have shown it of what threads wrote.
    pub(crate) fn reads_by_proxy(&mut self, checks: &mut BlockChecks, lane: usize, at: u64, len: u64) {
        if let Some(races) = &mut checks.races {
            self.look_for_fences(races, lane, at, len);
        }
    }

    /// A warp executes an instruction, in the lanes of the mask: told where it is recorded.
    #[inline(never)]
    pub(crate) fn step(&mut self, pc: u32, mask: u32) {
        if let Some(record) = &mut self.record {
            record.step(self.warp, pc, mask.count_ones());
        }
    }

    /// The present instruction is a division, which machine code leaves to a routine or not.
    pub(crate) fn divides(&mut self, by_routine: bool) {
        if let Some(record) = &mut self.record {
            record.divides(self.warp, by_routine);
        }
    }

    /// The warp waits for more of its lanes before it executes its present instruction.
    pub(crate) fn gathers(&mut self) {
        if let Some(record) = &mut self.record {
            record.withdraw(self.warp);
        }
    }

    /// The warp's present instruction is a barrier.
    pub(crate) fn arrives(&mut self, arrival: impl FnOnce() -> AtBarrier) {
        if let Some(record) = &mut self.record {
            record.arrive(self.warp, arrival());
        }
    }

    /// The present instruction, or a copy that it begins, is at an mbarrier: told where it is recorded.
    pub(crate) fn visits(&mut self, object: u64, odd: Option<bool>, does: AtMbarrier) {
        if let Some(record) = &mut self.record {
            record.visit(self.warp, object, odd, does);
        }
    }

    #[inline(never)]
    fn look(&mut self, checks: &mut BlockChecks, touch: &Touch<'_>) {
        // First, since it knows who reads what is overwritten now.
        if checks.warpgroups.is_some() {
            self.look_at_tiles(checks, touch);
        }
        if let Some(races) = &mut checks.races {
            self.look_for_races(races, touch);
        }
        if let Some(init) = &mut checks.init {
            self.look_init(init, touch);
        }
    }

    /// A product of a warp group begins to read pieces of shared memory. It goes past the unit for loads and stores.
    pub(crate) fn product_reads(&mut self, checks: &mut BlockChecks, mask: u32, addrs: &[u64; 32]) {
        if let Some(races) = &mut checks.races {
            self.look_for_races(races, &warpgroup::product_read(Action::Read, mask, addrs));
        }
    }

    /// Who runs, for the tally.
    #[inline(always)]
    fn who(&self, lanes: u32, addrs: &[u64; 32]) -> Who {
        let addr = addrs[lanes.trailing_zeros() as usize & 31];
        Who { block: self.block, warp: self.warp, lanes, addr }
    }

    /// A whole warp has accessed global memory, one lane's bytes behind the other's.
    #[inline(always)]
    pub(crate) fn global_row(&mut self, addrs: &[u64; 32], bytes: u64, sectors: u64) {
        self.tally.global_row(self.pc, self.who(FULL, addrs), bytes, sectors);
    }

    /// Lanes have accessed global memory in any other way.
    #[inline(always)]
    pub(crate) fn global(&mut self, lanes: u32, addrs: &[u64; 32], bytes: u64, sectors: u64) {
        self.tally.global(self.pc, self.who(lanes, addrs), addrs, bytes, sectors);
    }

    /// A whole warp has accessed words of shared memory, in a row or all of them the same.
    #[inline(always)]
    pub(crate) fn shared_words(&mut self, addrs: &[u64; 32], row: bool) {
        self.tally.shared_words(self.pc, self.who(FULL, addrs), row);
    }

    /// Lanes have accessed shared memory in any other way.
    #[inline(always)]
    pub(crate) fn shared(&mut self, lanes: u32, addrs: &[u64; 32], bytes: u64, passes: u64) {
        self.tally.shared(self.pc, self.who(lanes, addrs), addrs, bytes, passes);
    }

    /// Lanes have accessed local memory.
    pub(crate) fn local(&mut self, lanes: u32, addrs: &[u64; 32], bytes: u64, sectors: u64) {
        self.tally.local(self.pc, self.who(lanes, addrs), addrs, bytes, sectors);
    }

    /// The lanes of a split part at a branch; `alive` are those of its warp.
    pub(crate) fn part(&mut self, split: &mut Split, pc: u32, alive: u32) {
        let who = Who { block: self.block, warp: self.warp, lanes: split.mask, addr: 0 };
        self.tally.part(&mut split.apart, pc, who, alive);
    }

    /// A split whose lanes were `mask` has executed instructions, and those from whom they parted have waited.
    pub(crate) fn ran(&mut self, split: &Split, mask: u32, alive: u32, executed: u64) {
        if !split.apart.is_empty() {
            self.tally.idle(&split.apart, mask, alive, executed);
        }
    }
}

impl BlockChecks {
    pub(crate) fn new(run: &Run<'_>) -> Self {
        Self {
            races: run.checks.races.then(|| Box::new(Races::new(run))),
            init: run.checks.init.then(|| Init::new(run)),
            warpgroups: if run.checks.races { Warpgroups::new(run) } else { None },
        }
    }

    /// Forgets everything: another block begins.
    pub(crate) fn start(&mut self, run: &Run<'_>, block: u64) {
        if let Some(races) = &mut self.races {
            races.start(run, block);
        }
        if let Some(init) = &mut self.init {
            init.start(run);
        }
        if let Some(groups) = &mut self.warpgroups {
            groups.start(run);
        }
    }

    /// Whether the warp's registers hold undefined bits, which must be followed.
    #[inline(always)]
    pub(crate) fn shadowed(&self, warp: u32) -> bool {
        self.init.as_ref().is_some_and(|init| init.shadowed(warp))
    }

    /// Somebody of a barrier's round before whom nothing orders before what lanes of a warp do now.
    pub(crate) fn overtaken(&self, barrier: u32, block: u64, warp: u32, mask: u32) -> Option<Came> {
        self.races.as_ref()?.overtaken(barrier, block, warp, mask)
    }

    /// A warp comes to a barrier that counts threads.
    pub(crate) fn arrive(&mut self, came: Came) {
        if let Some(races) = &mut self.races {
            races.arrive(came);
        }
    }

    /// A barrier has been completed: by every thread of the block that there is, or by those that came to it.
    pub(crate) fn complete(&mut self, barrier: u32, whole: bool) {
        if let Some(races) = &mut self.races {
            races.complete(barrier, whole);
        }
        self.threads_met();
    }

    /// Lanes of a warp pass `__syncwarp()`, each with the lanes that its mask names.
    pub(crate) fn warp_sync(&mut self, warp: &Warp, members: &[u32; 32], mask: u32) {
        if let Some(races) = &mut self.races {
            races.warp_sync(warp, members, mask);
        }
    }

    /// Lanes of a warp arrive at an object that counts them, which may complete a phase of it.
    pub(crate) fn phase_arrive(&mut self, visit: Visit, completes: bool) {
        if let Some(races) = &mut self.races {
            races.phase_arrive(visit, completes);
        }
        if completes {
            self.threads_met();
        }
    }

    /// Lanes of a warp find that a phase of such an object is complete.
    pub(crate) fn phase_wait(&mut self, visit: Visit) {
        if let Some(races) = &mut self.races {
            races.phase_wait(visit);
        }
    }

    /// The same, where they do not acquire what has been released there.
    pub(crate) fn phase_seen(&mut self, visit: Visit) {
        if let Some(races) = &mut self.races {
            races.phase_seen(visit);
        }
    }

    /// Lanes of a warp shuffle, vote or the like.
    pub(crate) fn meet_in_registers(&mut self, warp: u32, mask: u32) {
        if let Some(races) = &mut self.races {
            races.meet_in_registers(warp, mask);
        }
    }

    pub(crate) fn fence(&mut self, warp: &Warp, mask: u32, order: Order) {
        if let Some(races) = &mut self.races {
            races.fence(warp.index, mask, mask == warp.alive, order);
        }
    }

    pub(crate) fn copies_commit(&mut self, warp: u32, mask: u32) {
        if let Some(races) = &mut self.races {
            races.copies_commit(warp, mask);
        }
    }

    pub(crate) fn copies_wait(&mut self, warp: u32, pc: u32, mask: u32, groups: Option<u32>) {
        if let Some(races) = &mut self.races {
            races.copies_wait(warp, pc, mask, groups);
        }
    }

    /// A bulk copy begins: the time.
    pub(crate) fn copies_begin(&mut self) -> u32 {
        self.races.as_mut().map_or(0, |races| races.copies_begin())
    }

    /// Lanes of a warp let an object that counts arrivals wait for the copies that they have begun since some time.
    pub(crate) fn copies_announce(&mut self, visit: Visit, since: u32) {
        if let Some(races) = &mut self.races {
            races.copies_announce(visit, since);
        }
    }

    /// Lanes of a warp close the group of their bulk copies out of shared memory.
    pub(crate) fn bulk_commit(&mut self, warp: u32, mask: u32) {
        if let Some(races) = &mut self.races {
            races.bulk_commit(warp, mask);
        }
    }

    /// They wait until at most so many of those groups still read.
    pub(crate) fn bulk_wait(&mut self, warp: u32, mask: u32, groups: u32) {
        if let Some(races) = &mut self.races {
            races.bulk_wait(warp, mask, groups);
        }
    }

    /// Lanes of a warp show the asynchronous proxy what they know of.
    pub(crate) fn proxy_fence(&mut self, warp: u32, mask: u32) {
        if let Some(races) = &mut self.races {
            races.proxy_fence(warp, mask);
        }
        if let Some(groups) = &mut self.warpgroups {
            groups.proxy_fence(warp, mask);
        }
    }

    /// Whether a byte of the block's shared memory was never written.
    pub(crate) fn is_unwritten(&self, at: u64, bytes: u64) -> bool {
        self.init.as_ref().is_some_and(|init| init.is_unwritten(at, bytes))
    }

    /// A callee's frame begins.
    pub(crate) fn enter(&mut self, warp: u32, function: &Function, bases: Bases, local_base: u32, mask: u32) {
        if let Some(init) = &mut self.init {
            init.enter(warp, function, bases, local_base, mask);
        }
    }

    /// A callee's frame ends, after its results were passed.
    pub(crate) fn leave(&mut self, warp: u32, bases: Bases, mask: u32) {
        if let Some(init) = &mut self.init {
            init.leave(warp, bases, mask);
        }
    }

    /// An argument or result is copied from one frame to another.
    pub(crate) fn pass(&mut self, warp: u32, mask: u32, from: Placed, to: Placed) {
        if let Some(init) = &mut self.init {
            init.pass(warp, mask, from, to);
        }
    }

    /// The runtime has written to a frame.
    pub(crate) fn returned(&mut self, warp: u32, lane: usize, at: u64, bytes: u64) {
        if let Some(init) = &mut self.init {
            init.returned(warp, lane, at, bytes);
        }
    }

    /// The runtime reads a thread's own memory: where the first undefined byte of it comes from.
    pub(crate) fn undefined_at(&self, warp: u32, lane: usize, at: u64, bytes: u64) -> Option<Origin> {
        self.init.as_ref()?.undefined_at(warp, lane, at, bytes)
    }
}
