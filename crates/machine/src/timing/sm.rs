//! One SM, event by event: its schedulers, its units, and the warps of the blocks that it has.
//!
//! Each of four schedulers issues the oldest warp whose operands are ready and whose unit is free. A warp issues in order: the order in
//! which the assembler puts its instructions ([`super::schedule`]).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::cost::Unit;
use super::memory::MemorySystem;
use super::program::{Kind, Op, Program};
use super::rates::Rates;
use super::{TICKS, Ticks, ticks};
use crate::code::Place;
use crate::exec::{Recording, Step};

const SCHEDULERS: usize = 4;

/// A block that was recorded, with the steps of its warps in the machine's order.
#[derive(Debug)]
pub(crate) struct Sample {
    pub(crate) recording: Recording,
    pub(crate) ordered: Vec<Vec<Step>>,
}

/// What an SM is asked to run.
pub(crate) struct Work<'a> {
    pub(crate) blocks: u64,
    /// How many of them fit at once.
    pub(crate) resident: u64,
    /// Ticks between two blocks that may begin.
    pub(crate) every: f64,
    /// The sample that a block is like.
    pub(crate) sample: &'a dyn Fn(u64) -> usize,
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
    /// Those that wait for nothing but their turn, the oldest first.
    ready: Vec<usize>,
}

#[derive(Clone, Debug, Default)]
struct Warp {
    sample: usize,
    /// In its block.
    number: usize,
    /// The step that comes next.
    at: usize,
    /// The block's place on the SM, and its number.
    place: usize,
    block: u64,
    /// When each register has its value.
    registers: Vec<Ticks>,
}

/// A block's place on the SM.
#[derive(Clone, Debug, Default)]
struct Slot {
    alive: usize,
    /// Warps at the barrier.
    arrived: Vec<usize>,
}

pub(crate) struct Sm<'a> {
    program: &'a Program,
    rates: &'a Rates,
    memory: MemorySystem<'a>,
    samples: &'a [Sample],
    schedulers: [Scheduler; SCHEDULERS],
    warps: Vec<Warp>,
    slots: Vec<Slot>,
    /// Warps of a block.
    warps_of_block: usize,
    /// When the banks of shared memory are free, and when a word of a block is for the next atomic.
    shared: Ticks,
    words: HashMap<(usize, u64), Ticks>,
}

impl<'a> Sm<'a> {
    pub(crate) fn new(program: &'a Program, rates: &'a Rates, memory: MemorySystem<'a>, samples: &'a [Sample]) -> Self {
        Self {
            program,
            rates,
            memory,
            samples,
            schedulers: Default::default(),
            warps: Vec::new(),
            slots: Vec::new(),
            warps_of_block: samples.first().map_or(0, |sample| sample.ordered.len()),
            shared: 0,
            words: HashMap::new(),
        }
    }

    /// Runs blocks to their end, and waits for their stores.
    pub(crate) fn run(&mut self, work: &Work<'_>) -> Simulated {
        let mut result = Simulated::default();
        let places = work.resident.min(work.blocks) as usize;
        self.slots = vec![Slot::default(); places];
        self.warps = vec![Warp::default(); places * self.warps_of_block];
        let begins = |block: u64| (block as f64 * work.every) as Ticks;
        for block in 0..places as u64 {
            self.start(block as usize, block, (work.sample)(block), begins(block));
        }
        let mut next = places as u64;
        while let Some((now, index)) = self.earliest() {
            let Some((warp, now)) = self.choose(index, now) else { continue };
            result.issued += 1;
            let Some((place, ended)) = self.issue(index, warp, now) else { continue };
            result.ends.push(ended);
            if next < work.blocks {
                let free = ended + ticks(self.rates.block_end);
                self.start(place, next, (work.sample)(next), free.max(begins(next)));
                next += 1;
            }
        }
        result.ends.sort_unstable();
        if let Some(last) = result.ends.last_mut() {
            *last = self.memory.drained().max(*last);
        }
        result
    }

    fn start(&mut self, place: usize, block: u64, sample: usize, at: Ticks) {
        let (warps, registers) = (self.warps_of_block, self.program.registers);
        self.slots[place] = Slot { alive: warps, arrived: Vec::new() };
        let begins = at + ticks(self.rates.block_start);
        for number in 0..warps {
            let index = place * warps + number;
            self.warps[index] = Warp { sample, number, at: 0, place, block, registers: vec![0; registers] };
            let after = ticks(self.rates.warp_start) * number as Ticks / SCHEDULERS as Ticks;
            self.wait(index, begins + after);
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
        }
        let mut soonest = scheduler.waiting.peek().map_or(Ticks::MAX, |Reverse((at, _))| *at);
        for i in 0..scheduler.ready.len() {
            let warp = &self.warps[scheduler.ready[i]];
            let step = self.samples[warp.sample].ordered[warp.number].get(warp.at);
            let unit = step.map_or(Unit::None, |step| self.program.ops[step.pc as usize].cost.unit);
            let free = unit.indices().iter().map(|&unit| scheduler.units[unit]).min().unwrap_or(0);
            if free <= scheduler.now {
                return Some((scheduler.ready.remove(i), scheduler.now));
            }
            soonest = soonest.min(free);
        }
        scheduler.now = soonest.max(scheduler.now + 1);
        None
    }

    /// Issues a warp's next instruction. Where that ends its block: the block's place, and when.
    fn issue(&mut self, index: usize, number: usize, now: Ticks) -> Option<(usize, Ticks)> {
        let (samples, program) = (self.samples, self.program);
        let Warp { sample, number: in_block, at, place, block, .. } = self.warps[number];
        let sample = &samples[sample];
        let Some(step) = sample.ordered[in_block].get(at) else { return self.leave(place, now) };
        let op = &program.ops[step.pc as usize];
        let scheduler = &mut self.schedulers[index];
        scheduler.now = now + ticks(op.cost.issues).max(1);
        // Of several units that can do it, the one that is free first.
        if let Some(&unit) = op.cost.unit.indices().iter().min_by_key(|&&unit| scheduler.units[unit]) {
            scheduler.units[unit] = scheduler.units[unit].max(now) + ticks(op.cost.busy);
        }
        let next = scheduler.now;
        let (done, goes_on) = self.effect(sample, step, op, (place, block), now);
        if op.kind.reaches_memory() {
            // What the memory's unit cannot take yet waits at the schedulers.
            let queue = self.memory.free().max(self.shared).saturating_sub(ticks(32.0));
            let unit = &mut self.schedulers[index].units[Unit::Memory as usize];
            *unit = queue.max(*unit);
        }
        let warp = &mut self.warps[number];
        for &register in &op.writes {
            warp.registers[register as usize] = done;
        }
        warp.at += 1;
        self.skip_folded(number);
        if op.kind == Kind::Barrier {
            let slot = &mut self.slots[place];
            slot.arrived.push(number);
            if slot.arrived.len() >= slot.alive {
                self.release(place, now);
            }
        } else {
            self.wait_for_operands(number, next.max(goes_on));
        }
        None
    }

    /// When an instruction's result is there, and when its warp may issue the next one.
    fn effect(
        &mut self,
        sample: &Sample,
        step: &Step,
        op: &Op,
        (place, block): (usize, u64),
        now: Ticks,
    ) -> (Ticks, Ticks) {
        let lines = &sample.recording.lines[step.first as usize..][..usize::from(step.lines)];
        let bytes = u64::from(op.bytes) * u64::from(step.lanes);
        let latency = ticks(op.cost.latency);
        // Four words at once take the banks four times, or twice for one address.
        let passes = match (op.merged, step.addresses) {
            (true, 0 | 1) => 2,
            (true, _) => 4 * u64::from(step.passes.max(1)),
            (false, _) => u64::from(step.passes.max(1)),
        };
        let mut banks = |passes: Ticks| {
            self.shared = self.shared.max(now) + passes * TICKS;
            self.shared
        };
        let done = match op.kind {
            _ if step.lanes == 0 => now + TICKS,
            Kind::Load(Place::Shared) => banks(passes) + ticks(self.rates.shared_latency),
            Kind::Store(Place::Shared) => banks(passes),
            Kind::Shuffle => banks(1) + ticks(self.rates.shuffle),
            Kind::Atomic(Place::Shared) if op.float => {
                let done = self.add_in_loop(lines, place, now);
                return (done, done);
            }
            Kind::Atomic(Place::Shared) => {
                let meet = lines.iter().map(|line| line.meet).max().unwrap_or(1);
                banks(2 + u64::from(meet)) + ticks(2.0 * self.rates.shared_latency)
            }
            Kind::Load(Place::Constant) => now + ticks(self.rates.l1_latency),
            Kind::Load(_) => self.memory.load(now, lines, bytes, block, op.past_l1),
            Kind::Store(_) => {
                self.memory.store(now, lines, bytes, block, &sample.recording.written);
                now
            }
            Kind::Atomic(_) => self.memory.atomic(now, lines, op.float),
            Kind::Branch => return (now, now + ticks(self.rates.branch)),
            Kind::Fence => return (now + latency, now + latency),
            Kind::Plain if op.serial => return (now + latency, now + ticks(op.cost.latency * self.rates.serial)),
            Kind::Plain | Kind::Barrier => now + latency,
        };
        (done, now)
    }

    /// Additions of floats in shared memory: compare and exchange, until nobody else came in between.
    fn add_in_loop(&mut self, words: &[crate::exec::Line], place: usize, now: Ticks) -> Ticks {
        let begun = self.shared.max(now) + 2 * TICKS;
        let mut done = begun;
        for line in words {
            let times = f64::from(line.meet);
            let word = self.words.entry((place, line.number)).or_default();
            *word = (*word).max(begun) + ticks(self.rates.shared_loop_apart * times);
            done = done.max(*word + ticks((self.rates.shared_loop - self.rates.shared_loop_apart) * times));
        }
        let meet = words.iter().map(|line| line.meet).max().unwrap_or(1);
        self.shared = begun + ticks(self.rates.shared_round * f64::from(meet));
        done
    }

    /// What is folded into other instructions takes no time, and hands on what it waits for.
    fn skip_folded(&mut self, number: usize) {
        let warp = &mut self.warps[number];
        let steps = &self.samples[warp.sample].ordered[warp.number];
        while let Some(op) = steps.get(warp.at).map(|step| &self.program.ops[step.pc as usize])
            && op.is_folded()
        {
            let known = op.reads.iter().map(|&register| warp.registers[register as usize]).max().unwrap_or(0);
            for &register in &op.writes {
                warp.registers[register as usize] = known;
            }
            warp.at += 1;
        }
    }

    fn wait_for_operands(&mut self, number: usize, from: Ticks) {
        let warp = &self.warps[number];
        let step = self.samples[warp.sample].ordered[warp.number].get(warp.at);
        let reads = step.map_or(&[][..], |step| &self.program.ops[step.pc as usize].reads);
        let ready = reads.iter().map(|&register| warp.registers[register as usize]).fold(from, Ticks::max);
        self.wait(number, ready);
    }

    fn wait(&mut self, number: usize, until: Ticks) {
        self.schedulers[number % SCHEDULERS].waiting.push(Reverse((until, number)));
    }

    /// All warps of a block that are alive have come to its barrier.
    fn release(&mut self, place: usize, now: Ticks) {
        let arrived = std::mem::take(&mut self.slots[place].arrived);
        let at = now + ticks(self.rates.barrier + self.rates.barrier_warp * arrived.len() as f64);
        for number in arrived {
            self.wait_for_operands(number, at);
        }
    }

    /// A warp has left its block.
    fn leave(&mut self, place: usize, now: Ticks) -> Option<(usize, Ticks)> {
        let slot = &mut self.slots[place];
        slot.alive = slot.alive.saturating_sub(1);
        if slot.alive == 0 {
            return Some((place, now));
        }
        if slot.arrived.len() >= slot.alive {
            self.release(place, now);
        }
        None
    }
}
