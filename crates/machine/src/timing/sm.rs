//! One SM, event by event: its schedulers, units and warps.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::cost::Unit;
use super::memory::MemorySystem;
use super::program::{Kind, Program};
use super::rates::Rates;
use super::{TICKS, Ticks, ticks};
use crate::code::Place;
use crate::exec::{Recording, Step};

const PARTITIONS: usize = 4;
const UNITS: usize = 6;

/// A block that was recorded, with the steps of its warps in the machine's order.
#[derive(Debug)]
pub(crate) struct Sample {
    pub(crate) recording: Recording,
    pub(crate) ordered: Vec<Vec<Step>>,
}

#[derive(Debug, Default)]
struct Partition {
    now: Ticks,
    units: [Ticks; UNITS],
    /// Warps whose operands are ready then.
    waiting: BinaryHeap<Reverse<(Ticks, usize)>>,
    /// Those that could be issued, the oldest first.
    ready: Vec<usize>,
}

#[derive(Clone, Debug)]
struct Warp {
    sample: usize,
    number: usize,
    at: usize,
    place: usize,
    instance: u64,
    registers: Vec<Ticks>,
}

/// A block's place on the SM.
#[derive(Clone, Debug, Default)]
struct Slot {
    left: usize,
    /// Warps at the barrier, and when the last of them came.
    arrived: Vec<usize>,
    alive: usize,
}

/// What came out.
#[derive(Debug, Default)]
pub(crate) struct Simulated {
    /// When each block ended, in their order.
    pub(crate) ends: Vec<Ticks>,
    pub(crate) issued: u64,
}

pub(crate) struct Sm<'a> {
    pub(crate) program: &'a Program,
    pub(crate) rates: &'a Rates,
    pub(crate) memory: MemorySystem<'a>,
    pub(crate) samples: &'a [Sample],
    partitions: [Partition; PARTITIONS],
    warps: Vec<Warp>,
    slots: Vec<Slot>,
    shared: Ticks,
    /// When a word of a block's shared memory is free for the next atomic.
    words: HashMap<(usize, u64), Ticks>,
    born: usize,
}

impl<'a> Sm<'a> {
    pub(crate) fn new(program: &'a Program, rates: &'a Rates, memory: MemorySystem<'a>, samples: &'a [Sample]) -> Self {
        Self { program, rates, memory, samples, partitions: Default::default(), warps: Vec::new(), slots: Vec::new(), shared: 0, words: HashMap::new(), born: 0 }
    }

    /// Runs so many blocks, of which so many fit at once; `every` ticks one may begin.
    pub(crate) fn run(&mut self, blocks: usize, resident: usize, every: f64, which: &dyn Fn(usize) -> usize) -> Simulated {
        let mut result = Simulated::default();
        let warps = self.samples[0].ordered.len();
        self.slots = vec![Slot::default(); resident];
        let empty = Warp { sample: 0, number: 0, at: 0, place: 0, instance: 0, registers: vec![0; self.program.registers] };
        self.warps = vec![empty; resident * warps];
        let mut next = 0;
        for place in 0..resident.min(blocks) {
            self.start(place, next, which(next), (next as f64 * every) as Ticks);
            next += 1;
        }
        loop {
            // The partition with the earliest event.
            let mut first: Option<(Ticks, usize)> = None;
            for (index, partition) in self.partitions.iter().enumerate() {
                let at = match (partition.ready.is_empty(), partition.waiting.peek()) {
                    (false, _) => partition.now,
                    (true, Some(Reverse((at, _)))) => partition.now.max(*at),
                    (true, None) => continue,
                };
                if first.is_none_or(|(known, _)| at < known) {
                    first = Some((at, index));
                }
            }
            let Some((now, index)) = first else { break };
            let Some((warp, at)) = self.choose(index, now) else { continue };
            result.issued += 1;
            if let Some((place, ended)) = self.issue(index, warp, at) {
                result.ends.push(ended);
                self.memory.forget_seen();
                if next < blocks {
                    let free = ended + ticks(self.rates.block_end);
                    self.start(place, next, which(next), free.max((next as f64 * every) as Ticks));
                    next += 1;
                }
            }
        }
        result
    }

    fn start(&mut self, place: usize, number: usize, sample: usize, at: Ticks) {
        let warps = self.samples[sample].ordered.len();
        self.slots[place] = Slot { left: warps, alive: warps, arrived: Vec::new() };
        let begins = at + ticks(self.rates.block_start);
        for w in 0..warps {
            let index = place * self.samples[0].ordered.len() + w;
            let warp = &mut self.warps[index];
            warp.sample = sample;
            warp.number = w;
            warp.at = 0;
            warp.place = place;
            warp.instance = number as u64;
            warp.registers.fill(0);
            let partition = index % PARTITIONS;
            let at = begins + ticks(self.rates.warp_start) * w as Ticks / PARTITIONS as Ticks;
            self.partitions[partition].waiting.push(Reverse((at, index)));
        }
        // Warps go round the partitions, whatever block they are of.
        self.born += warps;
    }

    /// Picks what the partition issues, and when; nothing where its time has moved on instead.
    fn choose(&mut self, index: usize, now: Ticks) -> Option<(usize, Ticks)> {
        let partition = &mut self.partitions[index];
        partition.now = partition.now.max(now);
        while let Some(Reverse((at, warp))) = partition.waiting.peek().copied()
            && at <= partition.now
        {
            partition.waiting.pop();
            partition.ready.push(warp);
        }
        let mut soonest = Ticks::MAX;
        for i in 0..partition.ready.len() {
            let warp = &self.warps[partition.ready[i]];
            let steps = &self.samples[warp.sample].ordered[warp.number];
            let free = match steps.get(warp.at) {
                Some(step) => match unit(self.program.ops[step.pc as usize].cost.unit) {
                    Some(unit) => match unit {
                        // Additions of integers take whichever is free.
                        5 => partition.units[0].min(partition.units[1]),
                        unit => partition.units[unit],
                    },
                    None => 0,
                },
                None => 0,
            };
            if free <= partition.now {
                let warp = partition.ready.remove(i);
                return Some((warp, partition.now));
            }
            soonest = soonest.min(free);
        }
        if let Some(Reverse((at, _))) = partition.waiting.peek() {
            soonest = soonest.min(*at);
        }
        partition.now = soonest.max(partition.now + 1);
        None
    }

    /// Issues a warp's next instruction. Where that ends its block: the block's place and time.
    fn issue(&mut self, index: usize, number: usize, now: Ticks) -> Option<(usize, Ticks)> {
        let samples = self.samples;
        let warp = &mut self.warps[number];
        let sample = &samples[warp.sample];
        let steps = &sample.ordered[warp.number];
        let place = warp.place;
        let Some(step) = steps.get(warp.at) else {
            return self.leave(place, now);
        };
        let op = &self.program.ops[step.pc as usize];
        let partition = &mut self.partitions[index];
        partition.now = now + ticks(f64::from(op.cost.issues)).max(1);
        if let Some(unit) = unit(op.cost.unit) {
            let unit = if unit == 5 { usize::from(partition.units[1] < partition.units[0]) } else { unit };
            partition.units[unit] = now.max(partition.units[unit]) + ticks(f64::from(op.cost.busy));
        }
        let lines = &sample.recording.lines[step.first as usize..][..usize::from(step.lines)];
        let bytes = u64::from(op.bytes) * u64::from(step.lanes);
        let mut go_on = partition.now;
        // Four words at once take the banks four times, or twice for one address.
        let passes = match op.merged {
            true => if step.addresses <= 1 { 2 } else { 4 * u64::from(step.passes.max(1)) },
            false => u64::from(step.passes.max(1)),
        };
        let passes = passes * TICKS;
        let done = match op.kind {
            _ if step.lanes == 0 => now + TICKS,
            Kind::Load(Place::Shared) => {
                self.shared = self.shared.max(now) + passes;
                self.shared + ticks(self.rates.shared_latency)
            }
            Kind::Load(Place::Constant) => now + ticks(30.0),
            Kind::Load(_) => self.memory.load(now, lines, bytes, warp.instance, op.past_l1),
            Kind::Store(Place::Shared) => {
                self.shared = self.shared.max(now) + passes;
                self.shared
            }
            Kind::Store(_) => {
                self.memory.store(now, lines, bytes, warp.instance, &sample.recording.written);
                now
            }
            Kind::Atomic(Place::Shared) => {
                let meet = lines.iter().map(|line| line.meet).max().unwrap_or(1);
                self.shared = self.shared.max(now) + 2 * TICKS;
                match op.float {
                    // Compare and exchange, until it was the only one.
                    true => {
                        let mut done = self.shared;
                        for line in lines {
                            let word = self.words.entry((place, line.number)).or_default();
                            let times = f64::from(line.meet);
                            *word = (*word).max(self.shared) + ticks(self.rates.shared_loop_apart * times);
                            done = done.max(*word + ticks((self.rates.shared_loop - self.rates.shared_loop_apart) * times));
                        }
                        self.shared += ticks(self.rates.shared_round * f64::from(meet));
                        go_on = done;
                        done
                    }
                    false => {
                        self.shared += ticks(f64::from(meet));
                        self.shared + ticks(2.0 * self.rates.shared_latency)
                    }
                }
            }
            Kind::Atomic(_) => self.memory.atomic(now, lines, op.float),
            Kind::Shuffle => {
                self.shared = self.shared.max(now) + TICKS;
                self.shared + ticks(self.rates.shuffle)
            }
            Kind::Branch => {
                go_on = now + ticks(self.rates.branch);
                go_on
            }
            Kind::Fence => {
                go_on = now + ticks(f64::from(op.cost.latency));
                go_on
            }
            Kind::Plain if op.serial => {
                go_on = now + ticks(f64::from(op.cost.latency) * self.rates.serial);
                now + ticks(f64::from(op.cost.latency))
            }
            Kind::Plain | Kind::Barrier => now + ticks(f64::from(op.cost.latency)),
        };
        // What the memory's unit cannot take yet waits at the scheduler.
        if matches!(op.kind, Kind::Load(_) | Kind::Store(_) | Kind::Atomic(_)) {
            let queue = self.memory.lsu.max(self.shared).saturating_sub(ticks(32.0));
            partition.units[4] = partition.units[4].max(queue);
        }
        for &register in &op.writes {
            warp.registers[register as usize] = done;
        }
        warp.at += 1;
        // What is folded into others takes no time, and hands on what it waits for.
        while let Some(step) = steps.get(warp.at) {
            let op = &self.program.ops[step.pc as usize];
            if !op.is_folded() {
                break;
            }
            let known = op.reads.iter().map(|&register| warp.registers[register as usize]).fold(0, Ticks::max);
            for &register in &op.writes {
                warp.registers[register as usize] = known;
            }
            warp.at += 1;
        }
        let barrier = op.kind == Kind::Barrier;
        let ready = match steps.get(warp.at) {
            Some(next) => {
                let reads = &self.program.ops[next.pc as usize].reads;
                reads.iter().map(|&register| warp.registers[register as usize]).fold(go_on, Ticks::max)
            }
            None => go_on,
        };
        if barrier {
            let slot = &mut self.slots[place];
            slot.arrived.push(number);
            let all = slot.arrived.len() >= slot.alive;
            if all {
                self.release(place, now);
            }
        } else {
            self.partitions[index].waiting.push(Reverse((ready, number)));
        }
        None
    }

    /// All that are alive have come to the barrier.
    fn release(&mut self, place: usize, now: Ticks) {
        let arrived = std::mem::take(&mut self.slots[place].arrived);
        let at = now + ticks(self.rates.barrier + self.rates.barrier_warp * arrived.len() as f64);
        for number in arrived {
            let warp = &self.warps[number];
            let steps = &self.samples[warp.sample].ordered[warp.number];
            let ready = match steps.get(warp.at) {
                Some(next) => {
                    let reads = &self.program.ops[next.pc as usize].reads;
                    reads.iter().map(|&register| warp.registers[register as usize]).fold(at, Ticks::max)
                }
                None => at,
            };
            // Where it was born.
            let partition = number % PARTITIONS;
            self.partitions[partition].waiting.push(Reverse((ready, number)));
        }
    }

    /// A warp has left.
    fn leave(&mut self, place: usize, now: Ticks) -> Option<(usize, Ticks)> {
        let slot = &mut self.slots[place];
        slot.left -= 1;
        slot.alive = slot.alive.saturating_sub(1);
        if slot.left == 0 {
            return Some((place, now));
        }
        if slot.alive > 0 && slot.arrived.len() >= slot.alive {
            self.release(place, now);
        }
        None
    }
}

fn unit(unit: Unit) -> Option<usize> {
    match unit {
        Unit::Fma => Some(0),
        Unit::Alu => Some(1),
        Unit::Special => Some(2),
        Unit::Double => Some(3),
        Unit::Memory => Some(4),
        Unit::Int => Some(5),
        Unit::Control | Unit::None => None,
    }
}
