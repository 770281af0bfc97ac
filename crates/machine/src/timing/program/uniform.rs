//! Registers in which all lanes of a warp have the same, as the assembler sees it, and atomics at one address for which it sends one lane.

use fusion_ptx::ast::AtomicOp;

use super::{Kind, Numbers, Program};
use crate::code::{Base, Code, MicroOp, SlowOp, TRUE};

/// Special registers in which lanes differ (PTX ISA 10, "Special Registers").
const OF_A_LANE: [&str; 3] = ["%tid", "%laneid", "%lanemask"];

/// What the lanes are put together with: a vote, the choice of a lane, and `redux`, in machine code of compute capability 9.0.
const INSTRUCTIONS: f64 = 6.0;
const LATENCY: f64 = 40.0;

/// So many instructions that make an address are followed, one after the other.
const DEEP: usize = 12;

/// Finds the atomics that become one lane's: of 32-bit integers, at an address that is the same for a warp's lanes, with an operation that
/// `redux` knows; where the old value is asked for, additions alone. Machine code that NVRTC 13.0 makes for compute capability 9.0 shows it, in
/// shared and in global memory.
pub(super) fn atomics(program: &mut Program, code: &Code, numbers: &Numbers, text: impl Fn(u32) -> String) {
    let among_lanes = |op: AtomicOp, asked_for: bool| match op {
        AtomicOp::Add => true,
        AtomicOp::Min | AtomicOp::Max | AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => !asked_for,
        AtomicOp::Exch | AtomicOp::Cas | AtomicOp::Inc | AtomicOp::Dec => false,
    };
    let reader = Reader { program, code, numbers, text: &text };
    let mut found = Vec::new();
    for (pc, inst) in (0..).zip(&code.insts) {
        let MicroOp::Slow(index) = inst.op else { continue };
        let SlowOp::Atomic(atomic) = &code.slow[index as usize] else { continue };
        let at = pc as usize;
        if atomic.element != 4 || program.ops[at].float || !among_lanes(atomic.op, is_asked_for(program, at)) {
            continue;
        }
        let register = match atomic.address.base {
            Base::None => None,
            Base::Word(slot) => Some(numbers.of(pc, slot, 32)),
            Base::Double(slot) => Some(numbers.of(pc, slot, 64)),
        };
        if register.is_none_or(|register| reader.is_uniform(at, register, DEEP)) {
            found.push(at);
        }
    }
    for at in found {
        let op = &mut program.ops[at];
        op.one_lane = true;
        (op.cost.issues, op.cost.latency) = (op.cost.issues + INSTRUCTIONS, op.cost.latency + LATENCY);
    }
}

/// Whether what an instruction writes is read before it is written again. Registers of the program are used for several of the PTX.
fn is_asked_for(program: &Program, at: usize) -> bool {
    program.ops[at].writes.iter().any(|register| {
        let next = program.ops[at + 1..].iter().find(|op| op.reads.contains(register) || op.writes.contains(register));
        next.is_some_and(|op| op.reads.contains(register))
    })
}

struct Reader<'a, Text> {
    program: &'a Program,
    code: &'a Code,
    numbers: &'a Numbers,
    text: &'a Text,
}

impl<Text: Fn(u32) -> String> Reader<'_, Text> {
    /// Whether all lanes have the same in a register when they come to an instruction: it goes by what was written last before it in the code,
    /// so paths on which lanes part, predicates, and what comes back from the end of a loop are not looked at. What is loaded from one address is
    /// one value.
    fn is_uniform(&self, at: usize, register: u32, deep: usize) -> bool {
        let Some(made) = self.program.ops[..at].iter().rposition(|op| op.writes.contains(&register)) else {
            return true;
        };
        let (op, guard) = (&self.program.ops[made], self.code.insts[made].guard);
        let guard = (guard != TRUE).then(|| self.numbers.of(made as u32, guard, 1));
        let is_operand = |read: &u32| guard.is_none_or(|guard| *read != guard && !op.writes.contains(read));
        let of_a_lane = match op.kind {
            Kind::Shuffle | Kind::Atomic(_) => true,
            Kind::Plain => OF_A_LANE.iter().any(|name| (self.text)(made as u32).contains(name)),
            _ => false,
        };
        let mut operands = op.reads.iter().filter(|read| is_operand(read));
        deep > 0 && !of_a_lane && operands.all(|&read| self.is_uniform(made, read, deep - 1))
    }
}
