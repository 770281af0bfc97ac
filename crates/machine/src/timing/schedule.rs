//! The order in which the assembler puts what a warp has executed.
//!
//! Between two branches or barriers, what takes long begins first, as far as operands and memory allow: so loads stand side by side before
//! the first use of any. Iterations of a short loop with a step that the assembler knows are put together, four at a time.

use std::collections::HashMap;

use super::program::{Kind, Op, Program};
use crate::code::Place;
use crate::exec::Step;

/// Clocks that the assembler thinks a load takes.
const LOAD: f64 = 250.0;
const SHARED_LOAD: f64 = 30.0;
/// The most instructions that are ordered together.
const WINDOW: usize = 400;

/// Puts steps in order, and remembers how.
#[derive(Debug, Default)]
pub(crate) struct Scheduler {
    known: HashMap<Vec<u32>, Vec<u16>>,
}

impl Scheduler {
    /// The steps of a warp in the order in which the machine issues them.
    pub(crate) fn order(&mut self, program: &Program, steps: &[Step], unrolls: &dyn Fn(u32) -> usize) -> Vec<Step> {
        let mut ordered = Vec::with_capacity(steps.len());
        let mut from = 0;
        while from < steps.len() {
            let mut to = end_of_piece(program, steps, from);
            // Further iterations of the same piece.
            let piece = to - from;
            let times = unrolls(steps[to - 1].pc);
            let mut iterations = 1;
            while iterations < times && to + piece <= steps.len() && to - from + piece <= WINDOW {
                let same = (0..piece).all(|i| steps[from + i].pc == steps[to + i].pc);
                if !same {
                    break;
                }
                to += piece;
                iterations += 1;
            }
            let window = &steps[from..to];
            let key: Vec<u32> = window.iter().map(|step| step.pc).collect();
            let order = self
                .known
                .entry(key)
                .or_insert_with_key(|key| list(&key.iter().map(|&pc| &program.ops[pc as usize]).collect::<Vec<_>>()));
            ordered.extend(order.iter().map(|&at| window[usize::from(at)]));
            from = to;
        }
        ordered
    }
}

/// One past the instruction that ends the piece which begins at `from`.
fn end_of_piece(program: &Program, steps: &[Step], from: usize) -> usize {
    let mut at = from;
    while at < steps.len() && at - from < WINDOW {
        let divides = program.ops[steps[at].pc as usize].divides();
        at += 1;
        if divides {
            break;
        }
    }
    at
}

/// A list schedule: the longest way to the end goes first.
fn list(ops: &[&Op]) -> Vec<u16> {
    let n = ops.len();
    // Who waits for whom, with how long a result takes.
    let mut waits: Vec<Vec<(usize, f64)>> = vec![Vec::new(); n];
    let mut written: HashMap<u32, usize> = HashMap::new();
    let (mut last_store, mut last_loads): (HashMap<u8, usize>, HashMap<u8, Vec<usize>>) = Default::default();
    for (at, op) in ops.iter().enumerate() {
        for register in &op.reads {
            if let Some(&by) = written.get(register) {
                waits[at].push((by, latency(ops[by])));
            }
        }
        let space = |place: Place| if place == Place::Shared { 1 } else { u8::from(place == Place::Local) * 2 };
        match op.kind {
            Kind::Load(place) if !op.read_only => {
                if let Some(&by) = last_store.get(&space(place)) {
                    waits[at].push((by, 1.0));
                }
                last_loads.entry(space(place)).or_default().push(at);
            }
            Kind::Store(place) | Kind::Atomic(place) => {
                let place = space(place);
                waits[at].extend(last_store.get(&place).map(|&by| (by, 1.0)));
                waits[at].extend(last_loads.remove(&place).into_iter().flatten().map(|by| (by, 1.0)));
                last_store.insert(place, at);
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
    // The longest way from each to the end.
    let mut way: Vec<f64> = ops.iter().map(|op| op.cost.issues).collect();
    for at in (0..n).rev() {
        for &(by, after) in &waits[at] {
            way[by] = way[by].max(way[at] + after);
        }
    }
    let mut ready = vec![0.0_f64; n];
    let mut missing: Vec<usize> = waits.iter().map(Vec::len).collect();
    let mut followers: Vec<Vec<(usize, f64)>> = vec![Vec::new(); n];
    for (at, all) in waits.iter().enumerate() {
        for &(by, after) in all {
            followers[by].push((at, after));
        }
    }
    let mut open: Vec<usize> = (0..n).filter(|&at| missing[at] == 0).collect();
    let (mut order, mut now) = (Vec::with_capacity(n), 0.0_f64);
    while !open.is_empty() {
        let can = |at: usize| ready[at] <= now;
        let best = (0..open.len())
            .filter(|&i| can(open[i]))
            .max_by(|&i, &j| way[open[i]].total_cmp(&way[open[j]]).then(open[j].cmp(&open[i])));
        let Some(best) = best else {
            now = open.iter().map(|&at| ready[at]).fold(f64::INFINITY, f64::min);
            continue;
        };
        let at = open.swap_remove(best);
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

    fn op(text: &str, kind: Kind, reads: &[u32], writes: &[u32]) -> Op {
        Op {
            cost: Cost::of(text, &crate::Profile::default().units),
            kind,
            reads: reads.into(),
            writes: writes.into(),
            bytes: 4,
            read_only: false,
            past_l1: false,
            merged: false,
            float: true,
            serial: false,
        }
    }

    /// Four times: load, add, store.
    fn four(read_only: bool) -> Vec<usize> {
        let (load, add, store) = ("ld.global.f32 %f, [%r];", "add.f32 %f, %f, %f;", "st.global.f32 [%r], %f;");
        let round = |i: u32| {
            let loads = Op { read_only, ..op(load, Kind::Load(Place::Global), &[], &[2 * i]) };
            let sum = op(add, Kind::Plain, &[2 * i], &[2 * i + 1]);
            [loads, sum, op(store, Kind::Store(Place::Global), &[2 * i + 1], &[])]
        };
        let ops: Vec<Op> = (0..4).flat_map(round).collect();
        let order = list(&ops.iter().collect::<Vec<_>>());
        let loads = |at: &u16| matches!(ops[usize::from(*at)].kind, Kind::Load(_));
        order.iter().enumerate().filter(|(_, at)| loads(at)).map(|(place, _)| place).collect()
    }

    #[test]
    fn loads_go_first_where_nobody_may_write_what_they_read() {
        assert_eq!(four(true), [0, 1, 2, 3]);
        assert_eq!(four(false), [0, 3, 6, 9]);
    }
}
