//! The order in which the assembler puts what a warp has executed.
//!
//! Between two branches or barriers, what takes long begins first, as far as operands and memory allow: so loads stand side by side before
//! the first use of any. Iterations of a short loop with a step that the assembler knows are put together, four at a time;
//! what one of them can do for all, the others leave out.

mod copies;
mod ifs;
mod room;

use std::collections::{HashMap, HashSet};

use self::room::Room;
use super::effect::Assembler;
use super::program::linear::addresses;
use super::program::{Kind, Op, Program};
use crate::code::Place;
use crate::exec::Step;

/// Clocks that the assembler thinks a load takes.
const LOAD: f64 = 250.0;
const SHARED_LOAD: f64 = 30.0;

/// How many clocks before it is of use the assembler begins a load that passes a store: it has the register for longer then.
const AHEAD: f64 = 10.0;

/// A step in the machine's order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ordered {
    pub(crate) step: Step,
    /// Which of the scheduler's [`Operands`] it has.
    pub(crate) operands: u32,
}

/// Registers of a step. The assembler has as many as it needs: what several iterations of a loop call by one name are several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Operands {
    pub(crate) reads: Vec<u32>,
    pub(crate) writes: Vec<u32>,
}

/// Puts steps in order, and remembers how.
pub(crate) struct Scheduler<'a> {
    program: &'a Program,
    assembler: Assembler,
    /// Registers that a thread has, where that is known.
    most: Option<u32>,
    /// How many iterations of a loop, by the place of the branch at its end, are one piece of code.
    unrolls: &'a dyn Fn(u32) -> usize,
    times: HashMap<u32, usize>,
    /// Of each piece, by the places of its instructions: which of them comes next, with its operands.
    known: HashMap<Vec<u32>, Vec<(u16, u32)>>,
    /// First those of the program.
    operands: Vec<Operands>,
    registers: u32,
}

impl<'a> Scheduler<'a> {
    pub(crate) fn new(
        program: &'a Program,
        assembler: Assembler,
        most: Option<u32>,
        unrolls: &'a dyn Fn(u32) -> usize,
    ) -> Self {
        let operands = |op: &Op| Operands { reads: op.reads.clone(), writes: op.writes.clone() };
        let operands = program.ops.iter().map(operands).collect();
        let registers = program.registers as u32;
        Self { program, assembler, most, unrolls, times: HashMap::new(), known: HashMap::new(), operands, registers }
    }

    /// The operands of all steps, and how many registers they name.
    pub(crate) fn finish(self) -> (Vec<Operands>, usize) {
        (self.operands, self.registers as usize)
    }

    /// The steps of a warp in the order in which the machine issues them.
    pub(crate) fn order(&mut self, steps: &[Step]) -> Vec<Ordered> {
        let program = self.program;
        let mut ordered = Vec::with_capacity(steps.len());
        let mut from = 0;
        while from < steps.len() {
            let (mut to, ifs) = ifs::end_of_piece(program, steps, from, self.assembler.window);
            let mut last = from;
            let times = *self.times.entry(steps[to - 1].pc).or_insert_with_key(|pc| (self.unrolls)(*pc));
            if times > 1 {
                let is_unrolled = ifs == 0 || ifs == 1 && ifs::loads(program, &steps[from..to]);
                let mut iterations = if is_unrolled { 1 } else { times };
                while iterations < times
                    && let Some(next) = self.again(steps, (from, last), to, ifs)
                {
                    (last, to) = (to, next);
                    iterations += 1;
                }
            }
            let window = &steps[from..to];
            let key: Vec<u32> = window.iter().map(|step| step.pc).collect();
            if !self.known.contains_key(&key) {
                let piece = self.piece(&key, last - from);
                self.known.insert(key.clone(), piece);
            }
            let order = self.known[&key].iter();
            ordered.extend(order.map(|&(at, operands)| Ordered { step: window[usize::from(at)], operands }));
            from = to;
        }
        ordered
    }

    /// One past a further iteration, from `to` on, of the loop of which the steps from `from` and from `last` to there
    /// are the first iteration of this piece and the last one so far; none where something else follows, or too much is
    /// one piece by then.
    fn again(&self, steps: &[Step], (from, last): (usize, usize), to: usize, ifs: usize) -> Option<usize> {
        if to >= steps.len() || steps[to].pc != steps[from].pc {
            return None;
        }
        let (next, more) = ifs::end_of_piece(self.program, steps, to, self.assembler.window);
        let is_same = more == ifs && steps[next - 1].pc == steps[to - 1].pc;
        // Without `if`s an iteration is as the others.
        let (is_same, together) = match ifs {
            0 => (is_same && next - to == to - last, next - from),
            _ => (is_same, ifs::unconditional(self.program, &steps[from..next])),
        };
        (is_same && together <= self.assembler.unrolled).then_some(next)
    }

    /// Orders a piece, and names its registers anew. It may be several iterations of a loop, the last of which begins
    /// at `last`.
    fn piece(&mut self, pcs: &[u32], last: usize) -> Vec<(u16, u32)> {
        let ops: Vec<&Op> = pcs.iter().map(|&pc| &self.program.ops[pc as usize]).collect();
        let (renamed, registers) = rename(&ops, self.program.registers as u32);
        self.registers = self.registers.max(registers);
        let operands: Vec<u32> = renamed
            .into_iter()
            .zip(pcs)
            .map(|(operands, &pc)| {
                if operands == self.operands[pc as usize] {
                    return pc;
                }
                self.operands.push(operands);
                self.operands.len() as u32 - 1
            })
            .collect();
        let live = &self.program.live;
        let room = self.most.filter(|_| live.is_known()).map(|most| Room::new(live, &ops, pcs, most as i32));
        let stages = ifs::stages(self.program, pcs);
        let once = if last > 0 { self.once(pcs[last], pcs[pcs.len() - 1]) } else { HashSet::new() };
        let needless = |at: usize| at < last && once.contains(&pcs[at]);
        let ends_in_if = pcs.last().is_some_and(|pc| self.program.ifs.contains_key(pc));
        let earliest = ifs::earliest(&ops, &stages, ends_in_if, |at| once.contains(&pcs[at]));
        let order = list(&ops, room, (&stages, &earliest)).into_iter().map(usize::from).filter(|&at| !needless(at));
        order.map(|at| (at as u16, operands[at])).collect()
    }

    /// Of a loop's instructions, from the first to the branch at its end, those that only one of several iterations
    /// needs.
    fn once(&self, first: u32, back: u32) -> HashSet<u32> {
        let body = self.program.ops.get(first as usize..=back as usize).unwrap_or_default();
        let body: Vec<&Op> = body.iter().collect();
        // What is executed under a condition is needed whenever that holds.
        let conditions = self.program.predicated.iter().map(|(&from, &to)| (from, to));
        let conditions = conditions.chain(self.program.ifs.iter().map(|(&from, arms)| (from, arms.meet)));
        let conditional = |pc: u32| conditions.clone().any(|(from, to)| (from..to).contains(&pc));
        (first..).zip(copies::once(&body)).filter(|&(pc, once)| once && !conditional(pc)).map(|(pc, _)| pc).collect()
    }
}

/// Gives what a piece writes more than once a name for each time but the last, from `first` on: the operands, and the names in all.
fn rename(ops: &[&Op], first: u32) -> (Vec<Operands>, u32) {
    let mut last: HashMap<u32, usize> = HashMap::new();
    for (at, op) in ops.iter().enumerate() {
        last.extend(op.writes.iter().map(|&register| (register, at)));
    }
    let (mut names, mut next): (HashMap<u32, u32>, u32) = (HashMap::new(), first);
    let operands = ops.iter().enumerate().map(|(at, op)| {
        let reads = op.reads.iter().map(|register| names.get(register).copied().unwrap_or(*register)).collect();
        let name = |register: &u32| {
            let name = if last[register] == at { *register } else { next };
            next += u32::from(name != *register);
            names.insert(*register, name);
            name
        };
        Operands { reads, writes: op.writes.iter().map(name).collect() }
    });
    (operands.collect(), next)
}

/// One past the instruction that ends the piece which begins at `from`.
fn end_of_piece(program: &Program, steps: &[Step], from: usize, window: usize) -> usize {
    let mut at = from;
    while at < steps.len() && at - from < window {
        let divides = program.ops[steps[at].pc as usize].divides();
        at += 1;
        if divides {
            break;
        }
    }
    at
}

/// A list schedule: the longest way to the end goes first. Stages come one after the other, but for what can stand in
/// an earlier one.
fn list(ops: &[&Op], mut room: Option<Room>, (stages, earliest): (&[usize], &[usize])) -> Vec<u16> {
    let n = ops.len();
    // Who waits for whom, with how long a result takes.
    let mut waits: Vec<Vec<(usize, f64)>> = vec![Vec::new(); n];
    let mut written: HashMap<u32, usize> = HashMap::new();
    // Who reads what the piece finds: the last write of it comes behind them.
    let mut readers: HashMap<u32, Vec<usize>> = HashMap::new();
    let addresses = addresses(ops);
    // Two accesses whose addresses differ by a constant that is known may change places.
    let meet = |a: usize, b: usize| match (&addresses[a], &addresses[b]) {
        (Some(one), Some(other)) => !one.is_apart(ops[a].bytes, other, ops[b].bytes),
        _ => true,
    };
    let (mut stores, mut loads): (HashMap<u8, Vec<usize>>, HashMap<u8, Vec<usize>>) = Default::default();
    let mut passes = vec![false; n];
    for (at, op) in ops.iter().enumerate() {
        for register in &op.reads {
            if let Some(&by) = written.get(register) {
                waits[at].push((by, latency(ops[by])));
            } else {
                readers.entry(*register).or_default().push(at);
            }
        }
        match op.kind {
            Kind::Load(place) if !op.read_only => {
                for space in spaces(place) {
                    for &by in stores.get(space).into_iter().flatten() {
                        if meet(by, at) {
                            waits[at].push((by, 1.0));
                        } else {
                            passes[at] = true;
                        }
                    }
                    loads.entry(*space).or_default().push(at);
                }
            }
            Kind::Store(_) | Kind::Atomic(_) | Kind::Copy => {
                let place = if let Kind::Store(place) | Kind::Atomic(place) = op.kind { place } else { Place::Shared };
                for space in spaces(place) {
                    let stores = stores.entry(*space).or_default();
                    let loads = loads.get(space).into_iter().flatten();
                    waits[at].extend(stores.last().map(|&by| (by, 1.0)));
                    waits[at].extend(loads.filter(|&&by| meet(by, at)).map(|&by| (by, 1.0)));
                    stores.push(at);
                }
            }
            _ => {}
        }
        // What ends a piece waits for all of it to be issued.
        if op.divides() {
            waits[at].extend((0..at).map(|by| (by, 0.0)));
        }
        for &register in &op.writes {
            written.insert(register, at);
        }
    }
    // Lanes are brought together once in a piece: then they are.
    if let Some(at) = ops.iter().position(|op| op.reconverges) {
        waits[at].extend((0..at).map(|by| (by, 0.0)));
        waits[at + 1..].iter_mut().for_each(|waits| waits.push((at, 0.0)));
    }
    for (register, readers) in readers {
        let last = written.get(&register).copied().unwrap_or_default();
        waits[last].extend(readers.into_iter().filter(|&by| by < last).map(|by| (by, 0.0)));
    }
    // The longest way from each to the end.
    let mut way: Vec<f64> = ops.iter().map(|op| op.cost.issues).collect();
    for at in (0..n).rev() {
        for &(by, after) in &waits[at] {
            way[by] = way[by].max(way[at] + after);
        }
    }
    let mut ready = vec![0.0_f64; n];
    for (at, latest) in latest(&waits).into_iter().enumerate().filter(|&(at, _)| passes[at]) {
        ready[at] = (latest - AHEAD).max(0.0);
    }
    let mut missing: Vec<usize> = waits.iter().map(Vec::len).collect();
    let mut followers: Vec<Vec<(usize, f64)>> = vec![Vec::new(); n];
    for (at, all) in waits.iter().enumerate() {
        for &(by, after) in all {
            followers[by].push((at, after));
        }
    }
    let mut open: Vec<usize> = (0..n).filter(|&at| missing[at] == 0).collect();
    let (mut order, mut now) = (Vec::with_capacity(n), 0.0_f64);
    let mut left = vec![0_usize; stages.last().map_or(0, |last| last + 1)];
    stages.iter().for_each(|&stage| left[stage] += 1);
    let mut stage = 0;
    while !open.is_empty() {
        while left.get(stage) == Some(&0) {
            stage += 1;
        }
        let can = |at: usize| ready[at] <= now;
        let has_come = |at: usize| earliest[at] <= stage;
        let fits = |at: usize| has_come(at) && room.as_ref().is_none_or(|room| room.fits(at));
        let fitting: Vec<usize> = (0..open.len()).filter(|&i| fits(open[i])).collect();
        let first = fitting.iter().map(|&i| ready[open[i]]).fold(f64::INFINITY, f64::min);
        let best = fitting
            .into_iter()
            .filter(|&i| can(open[i]))
            .max_by(|&i, &j| way[open[i]].total_cmp(&way[open[j]]).then(open[j].cmp(&open[i])));
        // Where none fits, the order is that of the code.
        let written = (0..open.len()).min_by_key(|&i| (!has_come(open[i]), open[i])).filter(|_| first.is_infinite());
        let Some(best) = best.or(written) else {
            now = first;
            continue;
        };
        let at = open.swap_remove(best);
        now = now.max(ready[at]);
        if let Some(room) = &mut room {
            room.issue(at);
        }
        left[stages[at]] -= 1;
        order.push(at as u16);
        now += ops[at].cost.issues.max(0.01);
        for &(next, after) in &followers[at] {
            ready[next] = ready[next].max(now + after - 1.0);
            missing[next] -= 1;
            if missing[next] == 0 {
                open.push(next);
            }
        }
    }
    order
}

/// When each has to begin so that the whole ends as early as it can if nothing but what it waits for counted.
fn latest(waits: &[Vec<(usize, f64)>]) -> Vec<f64> {
    let mut earliest: Vec<f64> = Vec::with_capacity(waits.len());
    for all in waits {
        earliest.push(all.iter().map(|&(by, after)| earliest[by] + after).fold(0.0, f64::max));
    }
    let end = earliest.into_iter().fold(0.0, f64::max);
    let mut latest = vec![end; waits.len()];
    for (at, all) in waits.iter().enumerate().rev() {
        for &(by, after) in all {
            latest[by] = latest[by].min(latest[at] - after);
        }
    }
    latest
}

/// Memory that the assembler tells apart. A generic address may lead to any.
fn spaces(place: Place) -> &'static [u8] {
    match place {
        Place::Shared => &[1],
        Place::Local => &[2],
        Place::Generic => &[0, 1, 2],
        _ => &[0],
    }
}

fn latency(op: &Op) -> f64 {
    match op.kind {
        Kind::Load(Place::Shared) => SHARED_LOAD,
        Kind::Load(Place::Param | Place::Frame | Place::Constant) => 0.0,
        Kind::Load(_) => LOAD,
        _ => op.cost.latency,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timing::cost::Cost;
    use crate::timing::program::linear::Linear;
    use crate::timing::program::live::Live;

    /// The order of a piece without an `if`.
    fn in_a_row(ops: &[&Op], room: Option<Room>) -> Vec<u16> {
        list(ops, room, (&vec![0; ops.len()], &vec![0; ops.len()]))
    }

    fn op(text: &str, kind: Kind, reads: &[u32], writes: &[u32]) -> Op {
        let cost = Cost::of(text, &crate::Profile::default().units);
        Op { reads: reads.into(), writes: writes.into(), bytes: 4, float: true, ..Op::new(cost, kind) }
    }

    /// The places of the loads in four times load, add, store.
    fn four(read_only: bool, room: impl Fn(&[Op]) -> Option<Room>) -> Vec<usize> {
        let (load, add, store) = ("ld.global.f32 %f, [%r];", "add.f32 %f, %f, %f;", "st.global.f32 [%r], %f;");
        let round = |i: u32| {
            let loads = Op { read_only, ..op(load, Kind::Load(Place::Global), &[], &[2 * i]) };
            let sum = op(add, Kind::Plain, &[2 * i], &[2 * i + 1]);
            [loads, sum, op(store, Kind::Store(Place::Global), &[2 * i + 1], &[])]
        };
        let ops: Vec<Op> = (0..4).flat_map(round).collect();
        let order = in_a_row(&ops.iter().collect::<Vec<_>>(), room(&ops));
        let loads = |at: &u16| matches!(ops[usize::from(*at)].kind, Kind::Load(_));
        order.iter().enumerate().filter(|(_, at)| loads(at)).map(|(place, _)| place).collect()
    }

    #[test]
    fn iterations_have_registers_of_their_own() {
        let load = op("ld.global.f32 %f1, [%r];", Kind::Load(Place::Global), &[0], &[1]);
        let sum = op("add.f32 %f2, %f2, %f1;", Kind::Plain, &[2, 1], &[2]);
        let (renamed, registers) = rename(&[&load, &sum, &load, &sum], 3);
        let of = |reads: &[u32], writes: &[u32]| Operands { reads: reads.into(), writes: writes.into() };
        assert_eq!(renamed, [of(&[0], &[3]), of(&[2, 3], &[4]), of(&[0], &[1]), of(&[4, 1], &[2])]);
        assert_eq!(registers, 5);
    }

    #[test]
    fn what_a_piece_finds_is_read_before_it_is_written() {
        let slow = op("div.rn.f32 %f2, %f1, %f1;", Kind::Plain, &[1], &[2]);
        let store = op("st.global.f32 [%r], %f1;", Kind::Store(Place::Global), &[1, 2], &[]);
        let load = Op { read_only: true, ..op("ld.global.nc.f32 %f1, [%r];", Kind::Load(Place::Global), &[0], &[1]) };
        assert_eq!(in_a_row(&[&slow, &store, &load], None), [0, 1, 2]);
    }

    /// A load, a store to the same place, and a load of what lies so many bytes further, after the address was computed anew.
    fn second(bytes: i64) -> Vec<u16> {
        let sum = |terms: &[(u32, i64)], constant| Some(Linear { terms: terms.into(), constant });
        let first = op("ld.global.f32 %f1, [%r0];", Kind::Load(Place::Global), &[0], &[1]);
        let store = op("st.global.f32 [%r0], %f1;", Kind::Store(Place::Global), &[0, 1], &[]);
        let store = Op { address: sum(&[(0, 1)], 0), ..store };
        let further = Op { value: sum(&[(0, 1)], bytes), ..op("add.s64 %r2, %r0, 4;", Kind::Plain, &[0], &[2]) };
        let load = op("ld.global.f32 %f3, [%r2];", Kind::Load(Place::Global), &[2], &[3]);
        in_a_row(&[&first, &store, &further, &Op { address: sum(&[(2, 1)], 0), ..load }], None)
    }

    #[test]
    fn a_load_passes_a_store_to_another_place() {
        assert_eq!(second(4), [0, 2, 3, 1]);
        assert_eq!(second(3), [0, 2, 1, 3]);
    }

    #[test]
    fn loads_go_first_where_nobody_may_write_what_they_read() {
        assert_eq!(four(true, |_| None), [0, 1, 2, 3]);
        assert_eq!(four(false, |_| None), [0, 3, 6, 9]);
    }

    #[test]
    fn loads_wait_for_registers() {
        let registers = |most| {
            move |ops: &[Op]| {
                let live = Live::of_widths(ops.len(), vec![1; 8]);
                let ops: Vec<&Op> = ops.iter().collect();
                Some(Room::new(&live, &ops, &(0..ops.len() as u32).collect::<Vec<_>>(), most))
            }
        };
        assert_eq!(four(true, registers(4)), [0, 1, 2, 3]);
        assert_eq!(four(true, registers(2)), [0, 1, 5, 7]);
        // As many as the code needs as it is written are there.
        assert_eq!(four(true, registers(0)), four(true, registers(1)));
    }

    #[test]
    fn nothing_moves_over_the_place_where_lanes_meet() {
        let load = op("ld.global.nc.f32 %f1, [%r];", Kind::Load(Place::Global), &[0], &[1]);
        let shuffle = op("shfl.sync.bfly.b32 %f2, %f1, 1, 31, -1;", Kind::Shuffle, &[1], &[2]);
        let next = op("ld.global.nc.f32 %f3, [%r];", Kind::Load(Place::Global), &[0], &[3]);
        let meets = Op { reconverges: true, ..shuffle.clone() };
        assert_eq!(in_a_row(&[&load, &shuffle, &next], None), [0, 2, 1]);
        assert_eq!(in_a_row(&[&load, &meets, &next], None), [0, 1, 2]);
    }
}
