//! Atomics at one address for which the assembler sends one lane of a warp.

use std::collections::HashMap;

use fusion_ptx::ast::AtomicOp;

use super::{Kind, Numbers, Program};
use crate::code::{Code, MicroOp, Place, SlowOp, TRUE};

/// What the lanes are put together with: a vote, the choice of a lane, and `redux`, in machine code of compute
/// capability 9.0.
const INSTRUCTIONS: f64 = 6.0;
const LATENCY: f64 = 40.0;

/// Finds the atomics that become one lane's: of 32-bit integers, at an address that is the same for a warp's lanes,
/// with an operation that `redux` knows; where the old value is asked for, additions alone. Machine code that NVRTC
/// 13.0 makes for compute capability 9.0 shows it, in shared and in global memory.
pub(super) fn atomics(program: &mut Program, code: &Code, numbers: &Numbers) {
    let among_lanes = |op: AtomicOp, asked_for: bool| match op {
        AtomicOp::Add => true,
        AtomicOp::Min | AtomicOp::Max | AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => !asked_for,
        AtomicOp::Exch | AtomicOp::Cas | AtomicOp::Inc | AtomicOp::Dec => false,
    };
    let candidate = |at: usize| Some((at, integer(program, code, at)?));
    let candidates: Vec<_> = (0..code.insts.len()).filter_map(candidate).collect();
    if candidates.is_empty() {
        return;
    }
    let mut reader = Reader::new(program, code, numbers);
    let mut found = Vec::new();
    for (at, atomic) in candidates {
        let register = numbers.of_base(at as u32, atomic.address.base);
        if among_lanes(atomic.op, reader.is_asked_for(at))
            && register.is_none_or(|register| reader.is_uniform(at, register, DEEP))
        {
            found.push(at);
        }
    }
    for at in found {
        let op = &mut program.ops[at];
        op.one_lane = true;
        (op.cost.issues, op.cost.latency) = (op.cost.issues + INSTRUCTIONS, op.cost.latency + LATENCY);
    }
}

/// The atomic of a 32-bit integer that an instruction is.
fn integer<'a>(program: &Program, code: &'a Code, at: usize) -> Option<&'a crate::code::Atomic> {
    let MicroOp::Slow(index) = code.insts[at].op else { return None };
    let SlowOp::Atomic(atomic) = &code.slow[index as usize] else { return None };
    (atomic.element == 4 && !program.ops[at].float).then_some(atomic)
}

/// So many instructions that make an address are followed, one after the other.
const DEEP: usize = 12;

struct Reader<'a> {
    program: &'a Program,
    code: &'a Code,
    numbers: &'a Numbers,
    /// Of each register, where it is written, and where it is read: one of the program is used for several of the PTX.
    written: Vec<Vec<usize>>,
    read: Vec<Vec<usize>>,
    /// Of instructions whose operands were looked at already, with so many more to follow.
    known: HashMap<(usize, usize), bool>,
}

impl<'a> Reader<'a> {
    fn new(program: &'a Program, code: &'a Code, numbers: &'a Numbers) -> Self {
        let places = |registers: fn(&super::Op) -> &[u32]| {
            let mut places = vec![Vec::new(); program.registers];
            for (at, op) in program.ops.iter().enumerate() {
                registers(op).iter().for_each(|&register| places[register as usize].push(at));
            }
            places
        };
        let (written, read) = (places(|op| &op.writes), places(|op| &op.reads));
        Self { program, code, numbers, written, read, known: HashMap::new() }
    }

    /// Whether what an instruction writes is read before it is written again. What the head of a loop reads is not
    /// looked at.
    fn is_asked_for(&self, at: usize) -> bool {
        let next = |places: &[usize]| places.get(places.partition_point(|place| *place <= at)).copied();
        self.program.ops[at].writes.iter().any(|&register| {
            let (read, written) = (next(&self.read[register as usize]), next(&self.written[register as usize]));
            read.is_some_and(|read| written.is_none_or(|written| read <= written))
        })
    }

    /// Whether all lanes have the same in a register when they come to an instruction: it goes by what was written
    /// last before it in the code, so paths on which lanes part, predicates, and what comes back from the end of a
    /// loop are not looked at. What is loaded from one address is one value, but for local memory, of which each lane
    /// has its own.
    fn is_uniform(&mut self, at: usize, register: u32, deep: usize) -> bool {
        let places = &self.written[register as usize];
        let before = places.partition_point(|place| *place < at);
        let Some(&made) = before.checked_sub(1).and_then(|last| places.get(last)) else { return true };
        if let Some(&known) = self.known.get(&(made, deep)) {
            return known;
        }
        let (op, guard) = (&self.program.ops[made], self.code.insts[made].guard);
        let guard = (guard != TRUE).then(|| self.numbers.of(made as u32, guard, 1));
        let is_operand = |read: &u32| guard.is_none_or(|guard| *read != guard && !op.writes.contains(read));
        let of_a_lane = match op.kind {
            Kind::Shuffle | Kind::Atomic(_) | Kind::Branch => true,
            Kind::MbarrierArrive { .. } | Kind::MbarrierWait => true,
            Kind::Load(Place::Local | Place::Frame | Place::Generic) => true,
            Kind::Plain => op.of_a_lane,
            _ => false,
        };
        let operands: Vec<u32> = op.reads.iter().copied().filter(is_operand).collect();
        let uniform = deep > 0 && !of_a_lane && operands.into_iter().all(|read| self.is_uniform(made, read, deep - 1));
        self.known.insert((made, deep), uniform);
        uniform
    }
}
