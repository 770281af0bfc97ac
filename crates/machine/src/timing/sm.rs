//! One SM, event by event: its schedulers, its units, and the warps of the blocks that it has.
//!
//! Each of four schedulers goes on with a warp as long as that can; then it issues the one that has waited longest of those whose operands are ready and whose unit is free. A warp issues in order: the order in
//! which the assembler puts its instructions ([`super::schedule`]).

mod cluster;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

use self::cluster::Rounds;
use super::account::{Account, Maker, Why};
use super::cost::{CLUSTER_BARRIER, CLUSTER_LATENCY, CLUSTER_PASS, FENCE, FENCES_APART, FOLDED, ROUTINE, Unit};
use super::memory::{Asker, MemorySystem};
use super::program::{Kind, Op, Program};
use super::rates::Rates;
use super::schedule::{Operands, Ordered};
use super::{TICKS, Ticks, ticks};
use crate::code::Place;
use crate::exec::{AtBarrier, Recording, Step};
use crate::report::State;

const SCHEDULERS: usize = 4;

/// Loads, stores and shuffles that a scheduler hands on before the memory's unit has taken the first of them.
const QUEUE: usize = 12;

/// A block that was recorded, with the steps of its warps in the machine's order.
#[derive(Debug)]
pub(crate) struct Sample {
    pub(crate) recording: Recording,
    pub(crate) ordered: Vec<Vec<Ordered>>,
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
    /// When L2 has what it has written, and how often it has come to the cluster's barrier and waited there.
    written: Ticks,
    arrived: usize,
    waited: usize,
}

/// A warp's asynchronous copies, or products: when those of each group are done, and those of none yet.
#[derive(Clone, Debug, Default)]
struct Copies {
    groups: VecDeque<Ticks>,
    open: Ticks,
}

impl Copies {
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
}

#[derive(Clone, Debug, Default)]
struct Barrier {
    /// Threads that it waits for; without a number, all warps.
    threads: Option<u32>,
    /// How many have come; a warp counts whole.
    come: u32,
    /// Warps that wait.
    waiting: Vec<usize>,
}

impl Barrier {
    fn is_complete(&self, alive: u32) -> bool {
        self.come >= self.threads.unwrap_or(32 * alive)
    }
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
    account: Account,
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
        let places = work.resident.min(work.blocks) as usize;
        self.slots = vec![Slot::default(); places];
        self.warps = vec![Warp::default(); places * self.warps_of_block];
        self.account.room(self.warps.len(), places);
        let begins = |block: u64| (block as f64 * work.every) as Ticks;
        for block in 0..places as u64 {
            self.account.place(0, begins(block));
            self.start(block as usize, block, (work.sample)(block), begins(block));
        }
        let mut next = places as u64;
        while let Some((now, index)) = self.earliest().or_else(|| self.free_the_stuck()) {
            let Some((warp, now)) = self.choose(index, now) else { continue };
            result.issued += 1;
            let Some((place, ended)) = self.issue(index, warp, now) else { continue };
            result.ends.push(ended);
            self.account.end_block(place, ended);
            if next < work.blocks {
                let free = ended + ticks(self.rates.block_end);
                self.account.place(free, begins(next));
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
            self.account.work(index, unit, now, ticks(op.cost.busy));
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
            self.account.work(index, Unit::Memory as usize, now, full.saturating_sub(*unit));
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
            _ => false,
        };
        if !waits {
            self.wait_for_operands(number, next.max(goes_on), maker.state());
        }
        None
    }

    /// When an instruction's result is there, and when its warp may issue the next one.
    fn effect(&mut self, number: usize, sample: &Sample, step: &Step, op: &Op, now: Ticks) -> (Ticks, Ticks) {
        let Warp { place, block, .. } = self.warps[number];
        let asker = Asker { place, block };
        let lines = sample.recording.lines(step);
        let bytes = u64::from(op.bytes) * u64::from(step.lanes);
        let latency = ticks(op.cost.latency);
        let passes = u64::from(if op.merged { step.wide_passes } else { step.passes });
        // Of generic addresses, what the lanes have really reached.
        let is_shared = |place| {
            place == Place::Shared
                || matches!(step.reached, Some(Place::Shared | Place::Cluster)) && place != Place::Global
        };
        let of_cluster = step.reached == Some(Place::Cluster);
        let shared_latency = if of_cluster {
            let way = self.cluster.max(now);
            self.cluster = way + ticks(CLUSTER_PASS * passes as f64);
            CLUSTER_LATENCY + (way - now) as f64 / TICKS as f64
        } else {
            self.rates.shared_latency
        };
        let banks = |memory: &mut MemorySystem<'_>, passes: Ticks| memory.pass(now, passes as f64);
        let done = match op.kind {
            _ if step.lanes == 0 => now + TICKS,
            Kind::Load(Place::Param) => now + latency,
            Kind::Load(Place::Constant) => now + ticks(self.rates.l1_latency),
            Kind::Load(_) => {
                let shared = if passes > 0 { banks(&mut self.memory, passes) + ticks(shared_latency) } else { now };
                let global = !lines.is_empty() || passes == 0;
                if global { shared.max(self.memory.load(now, lines, bytes, asker, op.past_l1)) } else { shared }
            }
            Kind::Store(_) => {
                let shared = if passes > 0 { banks(&mut self.memory, passes) } else { now };
                if !lines.is_empty() {
                    let written = self.memory.store(now, lines, bytes, asker, &sample.recording.written);
                    self.warps[number].written = written.max(self.warps[number].written);
                }
                shared
            }
            Kind::Copy => {
                let there = self.memory.load(now, lines, bytes, asker, op.past_l1);
                let done = there.max(banks(&mut self.memory, passes));
                let copies = &mut self.warps[number].copies;
                copies.open = copies.open.max(done);
                now
            }
            Kind::CopyCommit => {
                let copies = &mut self.warps[number].copies;
                copies.groups.push_back(std::mem::take(&mut copies.open));
                now
            }
            Kind::CopyWait(groups) => {
                let copies = &mut self.warps[number].copies;
                let awaited = copies.wait(groups.unwrap_or(0));
                let open = if groups.is_none() { copies.open } else { 0 };
                return (now, awaited.max(open).max(now + latency));
            }
            Kind::Product => {
                let products = &mut self.warps[number].products;
                products.open = products.open.max(now + latency);
                now
            }
            Kind::ProductCommit => {
                let products = &mut self.warps[number].products;
                products.groups.push_back(std::mem::take(&mut products.open));
                now
            }
            Kind::ProductWait(groups) => {
                let awaited = self.warps[number].products.wait(groups);
                return (now, awaited.max(now + latency));
            }
            Kind::Shuffle => banks(&mut self.memory, 1) + ticks(self.rates.shuffle),
            Kind::Atomic(at) if is_shared(at) && op.float => {
                let done = self.add_in_loop(lines, place, now);
                return (done, done);
            }
            Kind::Atomic(at) if is_shared(at) => {
                let conflicts = lines.iter().map(|line| line.conflicts).max().unwrap_or(1);
                let conflicts = if op.counts || op.one_lane { 1 } else { conflicts };
                banks(&mut self.memory, 2 + u64::from(conflicts)) + ticks(2.0 * shared_latency)
            }
            Kind::Atomic(_) => {
                let done = self.memory.atomic(now, lines, op, asker);
                self.warps[number].written = done.max(self.warps[number].written);
                done
            }
            Kind::Branch => return (now, now + ticks(self.rates.branch)),
            Kind::Fence | Kind::ClusterArrive { relaxed: false } => {
                let begun = self.warps[number].written.max(self.fences).max(now);
                self.fences = begun + ticks(FENCES_APART);
                let done = begun + ticks(FENCE);
                return (done, done);
            }
            Kind::Plain if op.serial => {
                let routine = if step.by_routine { ticks(ROUTINE.latency) } else { 0 };
                return (now + routine + latency, now + routine + ticks(op.cost.latency * self.rates.serial));
            }
            Kind::Plain
            | Kind::Barrier
            | Kind::ClusterArrive { relaxed: true }
            | Kind::ClusterWait
            | Kind::ProductFence => now + latency,
        };
        (done, now)
    }

    /// Additions of floats in shared memory: compare and exchange, until nobody else came in between.
    fn add_in_loop(&mut self, words: &[crate::exec::Line], place: usize, now: Ticks) -> Ticks {
        let conflicts = words.iter().map(|line| line.conflicts).max().unwrap_or(1);
        let begun = self.memory.free().max(now) + 2 * TICKS;
        self.memory.pass(now, 2.0 + self.rates.shared_round * f64::from(conflicts));
        let mut done = begun;
        for line in words {
            let times = f64::from(line.conflicts);
            let word = self.words.entry((place, line.number)).or_default();
            *word = (*word).max(begun) + ticks(self.rates.shared_loop_apart * times);
            done = done.max(*word + ticks((self.rates.shared_loop - self.rates.shared_loop_apart) * times));
        }
        done
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
        self.schedulers[number % SCHEDULERS].waiting.push(Reverse((why.ready, number)));
        self.account.wait(number, why);
    }

    /// A warp comes to a barrier: whether it has to wait there, or has been told when to go on.
    fn arrive(&mut self, number: usize, sample: &Sample, step: &Step, now: Ticks) -> bool {
        let Some(&AtBarrier { id, threads, counts, waits }) = sample.recording.arrivals.get(step.first as usize) else {
            return false;
        };
        let place = self.warps[number].place;
        let slot = &mut self.slots[place];
        // The count of the whole block means all that have not left.
        let all = 32 * self.warps_of_block as u32;
        let barrier = slot.barriers.entry(id).or_default();
        barrier.threads = threads.filter(|&threads| threads < all);
        barrier.come += counts;
        if waits {
            barrier.waiting.push(number);
        }
        if barrier.is_complete(slot.alive) {
            self.release(place, id, now);
        }
        waits
    }

    /// All that a barrier waits for have come.
    fn release(&mut self, place: usize, id: u8, now: Ticks) {
        let Some(barrier) = self.slots[place].barriers.remove(&id) else { return };
        let at = now + ticks(self.rates.barrier + self.rates.barrier_warp * barrier.waiting.len() as f64);
        for number in barrier.waiting {
            self.wait_for_operands(number, at, State::Barrier);
        }
    }

    /// Nobody can move: of warps that were recorded in part, some never come to a barrier. Others do not wait for them.
    fn free_the_stuck(&mut self) -> Option<(Ticks, usize)> {
        let now = self.schedulers.iter().map(|scheduler| scheduler.now).max().unwrap_or_default();
        for place in 0..self.slots.len() {
            let waiting = self.slots[place].barriers.iter().filter(|(_, barrier)| !barrier.waiting.is_empty());
            let mut ids: Vec<u8> = waiting.map(|(id, _)| *id).collect();
            ids.sort_unstable();
            ids.into_iter().for_each(|id| self.release(place, id, now));
            self.end_round(place, now);
        }
        self.earliest()
    }

    /// A warp has left its block.
    fn leave(&mut self, number: usize, place: usize, now: Ticks) -> Option<(usize, Ticks)> {
        let slot = &mut self.slots[place];
        slot.alive = slot.alive.saturating_sub(1);
        let alive = slot.alive;
        if alive == 0 {
            return Some((place, now));
        }
        let complete = |barrier: &Barrier| !barrier.waiting.is_empty() && barrier.is_complete(alive);
        let complete = slot.barriers.iter().filter(|(_, barrier)| complete(barrier));
        let mut ids: Vec<u8> = complete.map(|(id, _)| *id).collect();
        ids.sort_unstable();
        ids.into_iter().for_each(|id| self.release(place, id, now));
        self.leave_cluster(number, now);
        None
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::exec::Line;
    use crate::profile::Profile;
    use crate::timing::cost::Cost;
    use crate::timing::memory::Load;
    use crate::timing::program::live::Live;

    fn op(text: &str, kind: Kind) -> Op {
        Op { bytes: 16, ..Op::new(Cost::of(text, &Profile::default().units), kind) }
    }

    type Steps<'a> = &'a [(u32, Option<AtBarrier>)];

    /// Clocks of one block: of each warp, the places of its instructions, with an arrival for barriers.
    fn clocks(ops: Vec<Op>, warps: &[Steps<'_>]) -> u64 {
        ran(ops, warps).0
    }

    /// The same, with the ticks that the warps spend in each state at each instruction.
    fn ran(ops: Vec<Op>, warps: &[Steps<'_>]) -> (u64, Vec<HashMap<State, Ticks>>) {
        let mut recording = Recording::new(warps.len() as u32);
        recording.lines = vec![Line { number: 1, sectors: 1, whole: 0, conflicts: 0 }];
        for (warp, steps) in warps.iter().enumerate() {
            for &(pc, arrival) in *steps {
                let is_copy = ops[pc as usize].kind == Kind::Copy;
                recording.step(warp as u32, pc, 32);
                if let Some(step) = recording.warps[warp].steps.last_mut() {
                    (step.first, step.lines) = (0, u16::from(is_copy));
                }
                if let Some(arrival) = arrival {
                    recording.arrive(warp as u32, arrival);
                }
            }
        }
        let operands = vec![Operands { reads: Vec::new(), writes: Vec::new() }; ops.len()];
        let program = Program { ops, registers: 0, spills: 0, predicated: HashMap::new(), live: Live::default() };
        let order = |path: &crate::exec::Path| {
            path.steps.iter().map(|&step| Ordered { step, operands: step.pc }).collect::<Vec<_>>()
        };
        let ordered = recording.warps.iter().map(order).collect();
        let (rates, common) = (crate::timing::Rates::h200(), HashSet::new());
        let load = Load {
            pieces: &[],
            common: &common,
            active: 1.0,
            last: (0, 1.0),
            written_back: 0.0,
            shared: 0,
            first_wave: 1,
        };
        let (samples, operands) = ([Sample { recording, ordered }], (operands, 0));
        let mut sm = Sm::new(&program, &rates, MemorySystem::new(&rates, load), &samples, &operands);
        let result = sm.run(&Work { blocks: 1, resident: 1, every: 0.0, sample: &|_| 0 });
        assert_eq!(result.ends.len(), 1);
        let states = |row: &crate::timing::account::Row| State::ALL.into_iter().zip(row.states).collect();
        (result.ends[0] / TICKS, sm.account().0.rows.iter().map(states).collect())
    }

    #[test]
    fn all_of_a_warps_time_is_accounted_for() {
        let ops = vec![
            op("cp.async.cg.shared.global [%r1], [%rd1], 16;", Kind::Copy),
            op("cp.async.wait_all;", Kind::CopyWait(None)),
            op("bar.sync 0;", Kind::Barrier),
            op("fence.acq_rel.gpu;", Kind::Fence),
        ];
        let here = Some(AtBarrier { id: 0, threads: None, counts: 32, waits: true });
        let (clocks, rows) = ran(ops, &[&[(0, None), (1, None), (2, here)], &[(3, None), (2, here)]]);
        let all: Ticks = rows.iter().flat_map(HashMap::values).sum();
        // Both begin with the block, and end with it but for what a warp's last turn takes.
        assert!((2 * clocks).abs_diff(all / TICKS) < 20, "{clocks} {rows:?}");
        // Each waits where it has to.
        let here = |at: usize| rows[at].iter().filter(|(state, _)| **state != State::Launch);
        let most = |at: usize| here(at).max_by_key(|(_, time)| **time).map(|(state, _)| *state);
        let waits = [1, 2, 3].map(most);
        assert_eq!(waits, [State::LongScoreboard, State::Barrier, State::Membar].map(Some), "{rows:?}");
    }

    #[test]
    fn a_barrier_waits_for_those_that_it_counts() {
        let ops = || vec![op("bar.sync 1, 32;", Kind::Barrier), op("fence.acq_rel.gpu;", Kind::Fence)];
        let at = |id: u8, threads| Some(AtBarrier { id, threads, counts: 32, waits: true });
        let slow: [(u32, Option<AtBarrier>); 4] = [(1, None), (1, None), (1, None), (0, at(0, None))];
        let both = clocks(ops(), &[&[(0, at(0, None)), (1, None), (1, None), (1, None)], &slow]);
        let own = clocks(ops(), &[&[(0, at(1, Some(32))), (1, None), (1, None), (1, None)], &slow]);
        assert!(both > own + 500, "{both} {own}");
        // Nobody comes: it ends all the same.
        clocks(ops(), &[&[(0, at(0, Some(64)))], &[(1, None)]]);
    }

    #[test]
    fn a_clusters_barrier_has_rounds_and_waits_for_what_was_written() {
        let ops = || {
            let arrive = |text: &str, relaxed| op(text, Kind::ClusterArrive { relaxed });
            vec![
                arrive("barrier.cluster.arrive.relaxed.aligned;", true),
                arrive("barrier.cluster.arrive.aligned;", false),
                op("barrier.cluster.wait.aligned;", Kind::ClusterWait),
                op("fence.acq_rel.gpu;", Kind::Fence),
            ]
        };
        let of = |warps: [&[u32]; 2]| {
            let [one, two] = warps.map(|places| places.iter().map(|at| (*at, None)).collect::<Vec<_>>());
            clocks(ops(), &[&one, &two])
        };
        let [none, relaxed, released, twice] =
            [&[][..], &[0, 2], &[1, 2], &[0, 2, 0, 2]].map(|places| of([places, places]));
        assert!((70..120).contains(&(relaxed - none)), "{none} {relaxed}");
        assert!((FENCE as u64..400).contains(&(released - relaxed)), "{relaxed} {released}");
        assert!((140..240).contains(&(twice - none)), "{none} {twice}");
        // Who comes late lets the other wait, which has work left; who has left is not waited for.
        let [late, early] = [&[3, 3, 0, 2][..], &[0, 2, 3, 3][..]];
        assert!(of([late, early]) > of([late, late]) + FENCE as u64, "{} {}", of([late, early]), of([late, late]));
        assert!(of([&[0, 2], &[]]) < relaxed + 20);
        // Nor does one count that has come and left: the other's rounds take as long as ever.
        let (left, alone) = (of([&[0, 2, 0, 2], &[0]]), of([&[0, 2, 0, 2], &[]]));
        assert!(left + 20 > alone, "{left} {alone}");
    }

    #[test]
    fn who_waits_for_copies_waits_until_they_are_there() {
        let ops = |groups| {
            let copy = op("cp.async.cg.shared.global [%r1], [%rd1], 16;", Kind::Copy);
            let commit = op("cp.async.commit_group;", Kind::CopyCommit);
            vec![copy, commit, op("cp.async.wait_group 0;", Kind::CopyWait(groups))]
        };
        let steps: &[(u32, Option<AtBarrier>)] = &[(0, None), (1, None), (2, None)];
        let [all, one_may] = [0, 1].map(|groups| clocks(ops(Some(groups)), &[steps]));
        assert!(all > one_may + 200, "{all} {one_may}");
        // Without a number, it waits for those of no group, too.
        let open = clocks(ops(None), &[&[(0, None), (2, None)]]);
        assert!(open > one_may + 200, "{open} {one_may}");
    }

    #[test]
    fn products_of_warp_groups_go_on_behind_the_warps_back() {
        let form = "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {%f1}, %rd1, %rd2, 1, 1, 1, 0, 0;";
        let ops = || {
            let wait = |groups| op("wgmma.wait_group.sync.aligned 0;", Kind::ProductWait(groups));
            let commit = op("wgmma.commit_group.sync.aligned;", Kind::ProductCommit);
            vec![op(form, Kind::Product), commit, wait(0), wait(1)]
        };
        let of = |places: &[u32]| {
            let steps: Vec<(u32, Option<AtBarrier>)> = places.iter().map(|place| (*place, None)).collect();
            clocks(ops(), &[&steps])
        };
        let [issued, waited, one_left] = [of(&[0, 1]), of(&[0, 1, 2]), of(&[0, 1, 3])];
        assert!(waited > issued + 100 && one_left < issued + 50, "{issued} {waited} {one_left}");
        // The tensor core does one after the other: each takes it 128 clocks.
        let four = of(&[0, 0, 0, 0, 1, 2]);
        assert!((3 * 128 - 8..3 * 128 + 8).contains(&(four - waited)), "{waited} {four}");
    }
}
