//! One SM, event by event: its schedulers, its units, and the warps of the blocks that it has.
//!
//! Each of four schedulers goes on with a warp as long as that can; then it issues the one that has waited longest of those whose operands are ready and whose unit is free. A warp issues in order: the order in
//! which the assembler puts its instructions ([`super::schedule`]).

mod barrier;
mod cluster;
mod execute;
mod mbarrier;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

use self::barrier::Barrier;
use self::cluster::Rounds;
use self::mbarrier::Phases;
use super::account::{Account, Maker, Why};
use super::cost::{FOLDED, ROUTINE, Unit};
use super::memory::MemorySystem;
use super::program::{Kind, Program};
use super::rates::Rates;
use super::schedule::{Operands, Ordered};
use super::{Ticks, ticks};
use crate::exec::{Phase, Recording};
use crate::report::State;

const SCHEDULERS: usize = 4;

/// Loads, stores and shuffles that a scheduler hands on before the memory's unit has taken the first of them.
const QUEUE: usize = 12;

/// A block that was recorded, with the steps of its warps in the machine's order.
#[derive(Debug)]
pub(crate) struct Sample {
    pub(crate) recording: Recording,
    pub(crate) ordered: Vec<Vec<Ordered>>,
    /// Arrivals at phases of mbarriers.
    expected: HashMap<Phase, u32>,
}

impl Sample {
    pub(crate) fn new(program: &Program, recording: Recording, ordered: Vec<Vec<Ordered>>) -> Self {
        let steps = ordered.iter().flatten().map(|ordered| ordered.step);
        let arrivals = steps.filter(|step| program.ops[step.pc as usize].kind != Kind::MbarrierWait);
        let expected = mbarrier::expected(arrivals.map(|step| recording.visits(&step)));
        Self { expected, recording, ordered }
    }
}

/// What an SM is asked to run.
pub(crate) struct Work<'a> {
    pub(crate) blocks: u64,
    /// How many of them begin at once, and how many fit where enough of their warps have left.
    pub(crate) resident: u64,
    pub(crate) places: u64,
    /// Warps that fit.
    pub(crate) warps: usize,
    /// Ticks between two blocks that may begin.
    pub(crate) every: f64,
    /// Where warps leave long before their blocks end, and so make room: how many ticks after a block's end one ends on
    /// the SM beside it, at least.
    pub(crate) apart: Option<Ticks>,
    /// The sample that a block is like.
    pub(crate) sample: &'a dyn Fn(u64) -> usize,
}

impl Work<'_> {
    /// When a block may begin, whatever room there is.
    fn begins(&self, block: u64) -> Ticks {
        (block as f64 * self.every) as Ticks
    }
}

/// What came out.
#[derive(Debug, Default)]
pub(crate) struct Simulated {
    /// When blocks ended, in that order.
    pub(crate) ends: Vec<Ticks>,
    pub(crate) issued: u64,
}

/// A scheduler with its units.
#[derive(Debug, Default)]
struct Scheduler {
    now: Ticks,
    /// When each unit is free.
    units: [Ticks; Unit::COUNT],
    /// Warps, and when what they wait for is there.
    waiting: BinaryHeap<Reverse<(Ticks, usize)>>,
    /// The warp that was issued last: it goes on as long as it can.
    last: usize,
    /// Those that wait for nothing but their turn, the oldest first.
    ready: Vec<usize>,
    /// When the memory's unit takes what was handed on to it.
    queue: VecDeque<Ticks>,
}

#[derive(Clone, Debug, Default)]
struct Warp {
    sample: usize,
    /// In its block.
    number: usize,
    /// The step that comes next, and where it is executed.
    at: usize,
    unit: Unit,
    /// The block's place on the SM, and its number.
    place: usize,
    block: u64,
    /// When each register has its value, and who makes it.
    registers: Vec<Ticks>,
    makers: Vec<Maker>,
    copies: Copies,
    products: Copies,
    /// Of bulk copies out of shared memory: when they have read it.
    bulk: Copies,
    /// How often it has come to the cluster's barrier.
    arrived: usize,
}

/// A warp's asynchronous copies, or products: when those of each group are done, and those of none yet.
#[derive(Clone, Debug, Default)]
struct Copies {
    groups: VecDeque<Ticks>,
    open: Ticks,
}

impl Copies {
    /// Those of no group become one.
    fn close(&mut self) {
        self.groups.push_back(std::mem::take(&mut self.open));
    }

    /// When all are done.
    fn all(&self) -> Ticks {
        self.groups.iter().copied().max().unwrap_or_default().max(self.open)
    }

    /// When all groups are done but the last few.
    fn wait(&mut self, groups: u32) -> Ticks {
        let under_way = (groups as usize).min(self.groups.len());
        self.groups.drain(..self.groups.len() - under_way).max().unwrap_or_default()
    }
}

/// A block's place on the SM.
#[derive(Clone, Debug, Default)]
struct Slot {
    /// Warps that have not left.
    alive: u32,
    /// By their numbers.
    barriers: HashMap<u8, Barrier>,
    /// Of the cluster's barrier.
    rounds: Rounds,
    /// Of mbarriers.
    phases: Phases,
}

pub(crate) struct Sm<'a> {
    program: &'a Program,
    rates: &'a Rates,
    memory: MemorySystem<'a>,
    samples: &'a [Sample],
    operands: &'a [Operands],
    registers: usize,
    schedulers: [Scheduler; SCHEDULERS],
    warps: Vec<Warp>,
    slots: Vec<Slot>,
    /// Warps of a block.
    warps_of_block: usize,
    /// When a word of a block's shared memory is free for the next atomic.
    words: HashMap<(usize, u64), Ticks>,
    /// When the next access to other blocks' shared memory may begin, and the next fence.
    cluster: Ticks,
    fences: Ticks,
    /// When all is where it was written to.
    written: Ticks,
    account: Account,
}

/// How long after a block's end one ends on the SM beside it. That does the same, but not in step: where ends come one by
/// one, its own lie between them, and where several come at once, they do on both.
fn beside(last: [Ticks; 2], ended: Ticks) -> Ticks {
    ended.saturating_sub(last[0]).min(last[0].saturating_sub(last[1])) / 2
}

impl<'a> Sm<'a> {
    /// `operands` and `registers` are those of the samples' scheduler.
    pub(crate) fn new(
        program: &'a Program,
        rates: &'a Rates,
        memory: MemorySystem<'a>,
        samples: &'a [Sample],
        (operands, registers): &'a (Vec<Operands>, usize),
    ) -> Self {
        Self {
            program,
            rates,
            memory,
            samples,
            operands,
            registers: *registers,
            schedulers: Default::default(),
            warps: Vec::new(),
            slots: Vec::new(),
            warps_of_block: samples.first().map_or(0, |sample| sample.ordered.len()),
            words: HashMap::new(),
            cluster: 0,
            fences: 0,
            written: 0,
            account: Account::new(program, SCHEDULERS),
        }
    }

    /// Keeps what warps do, and when.
    pub(crate) fn trace(&mut self) {
        self.account.trace();
    }

    /// Where the time went, and what memory had to do meanwhile.
    pub(crate) fn account(self) -> (Account, MemorySystem<'a>) {
        (self.account, self.memory)
    }

    /// Runs blocks to their end, and waits for their stores.
    pub(crate) fn run(&mut self, work: &Work<'_>) -> Simulated {
        let mut result = Simulated::default();
        let first = work.resident.min(work.blocks) as usize;
        let places = (work.places.min(work.blocks) as usize).max(first);
        self.slots = vec![Slot::default(); places];
        self.warps = vec![Warp::default(); places * self.warps_of_block];
        self.account.room(self.warps.len(), places, first);
        for block in 0..first as u64 {
            self.account.place(0, work.begins(block));
            self.start(block as usize, block, (work.sample)(block), work.begins(block));
        }
        let mut unused: Vec<usize> = (first..places).rev().collect();
        let most = work.warps.max(first * self.warps_of_block);
        let mut next = first as u64;
        // When blocks that end on the SM beside this one are told to what hands blocks out; and when blocks ended here
        // last.
        let (mut looks, mut last_ends) = (BinaryHeap::new(), [0; 2]);
        loop {
            let event = self.earliest();
            if let Some(&Reverse(at)) = looks.peek()
                && event.is_none_or(|(now, _)| now >= at)
            {
                looks.pop();
                self.begin_blocks(work, &mut unused, most, &mut next, at);
                continue;
            }
            let Some((now, index)) = event.or_else(|| self.free_the_stuck()) else { break };
            let Some((warp, now)) = self.choose(index, now) else { continue };
            result.issued += 1;
            let Some((place, ended)) = self.issue(index, warp, now) else { continue };
            result.ends.push(ended);
            self.account.end_block(place, ended);
            unused.push(place);
            let free = ended + ticks(self.rates.block_end);
            self.begin_blocks(work, &mut unused, most, &mut next, free);
            let apart = work.apart.filter(|_| next < work.blocks);
            looks.extend(apart.map(|apart| Reverse(free + beside(last_ends, ended).max(apart))));
            last_ends = [ended, last_ends[0]];
        }
        result.ends.sort_unstable();
        if let Some(last) = result.ends.last_mut() {
            *last = self.memory.drained().max(*last);
        }
        result
    }

    /// Begins as many of the blocks that are left as there is room for: warps that have left have made some, too.
    ///
    /// What hands blocks out looks at an SM when a block ends on it, or on the other SM of its TPC: of an H200's launches
    /// of blocks of which one warp goes on, each block begins 350 to 550 clocks after such an end, as often after one as
    /// after the other.
    fn begin_blocks(&mut self, work: &Work<'_>, unused: &mut Vec<usize>, most: usize, next: &mut u64, free: Ticks) {
        while *next < work.blocks
            && self.alive() + self.warps_of_block <= most
            && let Some(place) = unused.pop()
        {
            let begins = work.begins(*next);
            self.account.place(free, begins);
            self.start(place, *next, (work.sample)(*next), free.max(begins));
            *next += 1;
        }
    }

    /// Warps that have not left.
    fn alive(&self) -> usize {
        self.slots.iter().map(|slot| slot.alive as usize).sum()
    }

    fn start(&mut self, place: usize, block: u64, sample: usize, at: Ticks) {
        let warps = self.warps_of_block;
        self.slots[place] = Slot { alive: warps as u32, ..Slot::default() };
        let begins = at + ticks(self.rates.block_start);
        for number in 0..warps {
            let index = place * warps + number;
            let (registers, copies) = (vec![0; self.registers], Copies::default());
            let makers = vec![Maker::default(); self.registers];
            self.warps[index] = Warp { sample, number, place, block, registers, makers, copies, ..Warp::default() };
            self.account.begin(index, at);
            self.skip_folded(index);
            let after = ticks(self.rates.warp_start) * number as Ticks / SCHEDULERS as Ticks;
            self.wait(index, Why::until(begins + after, State::Launch));
        }
    }

    /// The time of the next event, and the scheduler that it is at.
    fn earliest(&self) -> Option<(Ticks, usize)> {
        let event = |scheduler: &Scheduler| match (scheduler.ready.is_empty(), scheduler.waiting.peek()) {
            (false, _) => Some(scheduler.now),
            (true, Some(Reverse((at, _)))) => Some(scheduler.now.max(*at)),
            (true, None) => None,
        };
        let events = self.schedulers.iter().enumerate();
        events.filter_map(|(index, scheduler)| Some((event(scheduler)?, index))).min()
    }

    /// Picks what a scheduler issues, and when; nothing where its time has moved on instead.
    fn choose(&mut self, index: usize, now: Ticks) -> Option<(usize, Ticks)> {
        let scheduler = &mut self.schedulers[index];
        scheduler.now = scheduler.now.max(now);
        while let Some(&Reverse((at, warp))) = scheduler.waiting.peek()
            && at <= scheduler.now
        {
            scheduler.waiting.pop();
            scheduler.ready.push(warp);
            self.account.queue(index, warp, self.warps[warp].unit);
        }
        let mut soonest = scheduler.waiting.peek().map_or(Ticks::MAX, |Reverse((at, _))| *at);
        let mut best = None;
        for i in 0..scheduler.ready.len() {
            let unit = self.warps[scheduler.ready[i]].unit;
            let free = unit.indices().iter().map(|&unit| scheduler.units[unit]).min().unwrap_or(0);
            if free <= scheduler.now {
                if scheduler.ready[i] == scheduler.last {
                    best = Some(i);
                    break;
                }
                best = best.or(Some(i));
            } else {
                soonest = soonest.min(free);
            }
        }
        if let Some(i) = best {
            scheduler.last = scheduler.ready.remove(i);
            return Some((scheduler.last, scheduler.now));
        }
        scheduler.now = soonest.max(scheduler.now + 1);
        None
    }

    /// Issues a warp's next instruction. Where that ends its block: the block's place, and when.
    fn issue(&mut self, index: usize, number: usize, now: Ticks) -> Option<(usize, Ticks)> {
        let (samples, program) = (self.samples, self.program);
        let Warp { sample, number: in_block, at, place, .. } = self.warps[number];
        let sample = &samples[sample];
        let Some(&Ordered { step, operands }) = sample.ordered[in_block].get(at) else {
            let last = sample.ordered[in_block].last().map_or(0, |ordered| ordered.step.pc);
            self.account.end(number, last, now);
            return self.leave(number, place, now);
        };
        let op = &program.ops[step.pc as usize];
        let scheduler = &mut self.schedulers[index];
        let routine = if step.by_routine { ROUTINE } else { FOLDED };
        scheduler.now = now + ticks(op.cost.issues + routine.issues).max(1);
        let next = scheduler.now;
        self.account.issue(index, number, op, step.pc, (now, next));
        // Of several units that can do it, the one that is free first.
        if let Some(&unit) = op.cost.unit.indices().iter().min_by_key(|&&unit| scheduler.units[unit]) {
            scheduler.units[unit] = scheduler.units[unit].max(now) + ticks(op.cost.busy);
            let taken = if op.cost.unit.has_queue() { 0 } else { ticks(op.cost.issues) };
            self.account.work(index, unit, now, (ticks(op.cost.busy), taken));
        }
        let (done, goes_on) = self.effect(number, sample, &step, op, now);
        if op.kind.reaches_memory() {
            // What the memory's unit cannot take yet waits in the scheduler's queue, and what has no place there in its warp.
            let scheduler = &mut self.schedulers[index];
            // In the order of their times: the unit takes one after the other.
            while scheduler.queue.front().is_some_and(|taken| *taken <= now) {
                scheduler.queue.pop_front();
            }
            scheduler.queue.push_back(self.memory.free());
            let full = scheduler.queue.len().checked_sub(QUEUE).map_or(0, |first| scheduler.queue[first]);
            let unit = &mut scheduler.units[Unit::Memory as usize];
            self.account.work(index, Unit::Memory as usize, now, (full.saturating_sub(*unit), 0));
            *unit = full.max(*unit);
        }
        let (warp, maker) = (&mut self.warps[number], Maker::new(op, &step));
        for &register in &self.operands[operands as usize].writes {
            warp.registers[register as usize] = done;
            warp.makers[register as usize] = maker;
        }
        warp.at += 1;
        self.skip_folded(number);
        let waits = match op.kind {
            _ if step.lanes == 0 => false,
            Kind::Barrier => self.arrive(number, sample, &step, now),
            Kind::ClusterArrive { .. } => {
                self.arrive_at_cluster(number, goes_on);
                false
            }
            Kind::ClusterWait => {
                self.wait_for_cluster(number, next);
                true
            }
            Kind::MbarrierWait => {
                self.wait_for_mbarriers(number, sample, &step, next.max(done));
                true
            }
            _ => false,
        };
        if !waits {
            self.wait_for_operands(number, next.max(goes_on), maker.state());
        }
        None
    }

    /// What is folded into other instructions takes no time, and hands on what it waits for.
    fn skip_folded(&mut self, number: usize) {
        let warp = &mut self.warps[number];
        let steps = &self.samples[warp.sample].ordered[warp.number];
        while let Some(ordered) = steps.get(warp.at)
            && self.program.ops[ordered.step.pc as usize].is_folded()
        {
            let Operands { reads, writes } = &self.operands[ordered.operands as usize];
            let known = |register: &&u32| warp.registers[**register as usize];
            let last = reads.iter().max_by_key(known).map(|&register| register as usize);
            let (known, maker) = last.map_or_else(Default::default, |at| (warp.registers[at], warp.makers[at]));
            for &register in writes {
                warp.registers[register as usize] = known;
                warp.makers[register as usize] = maker;
            }
            warp.at += 1;
        }
    }

    /// `state`: what the warp does until `from`.
    fn wait_for_operands(&mut self, number: usize, from: Ticks, state: State) {
        let warp = &self.warps[number];
        let ordered = self.samples[warp.sample].ordered[warp.number].get(warp.at);
        let reads = ordered.map_or(&[][..], |ordered| &self.operands[ordered.operands as usize].reads);
        let mut why = Why::until(from, state);
        for &register in reads {
            let ready = warp.registers[register as usize];
            if ready > why.ready {
                (why.ready, why.last) = (ready, warp.makers[register as usize]);
            }
        }
        self.wait(number, why);
    }

    fn wait(&mut self, number: usize, why: Why) {
        let warp = &mut self.warps[number];
        let ordered = self.samples[warp.sample].ordered[warp.number].get(warp.at);
        warp.unit = ordered.map_or(Unit::None, |ordered| self.program.ops[ordered.step.pc as usize].cost.unit);
        let scheduler = self.scheduler_of(number);
        self.schedulers[scheduler].waiting.push(Reverse((why.ready, number)));
        self.account.wait(number, why);
    }

    /// Warps are dealt to the schedulers. The first one of a block is at another than that of the block before: an
    /// H200's `%warpid` shows it, for blocks of four warps and multiples of them.
    fn scheduler_of(&self, number: usize) -> usize {
        let turn = if self.warps_of_block.is_multiple_of(SCHEDULERS) { self.warps[number].place } else { 0 };
        (number + turn) % SCHEDULERS
    }
}

#[cfg(test)]
mod tests;
