//! Arithmetic of 64 bits of which only the lower half is asked for: the assembler leaves out the upper one.
//!
//! An address of shared memory has 32 bits (PTX ISA 5.1.7), however wide the registers are in which PTX computes it.

use super::{Kind, Op, Program};
use crate::code::{Code, Place};
use crate::profile::Units;
use crate::timing::cost::{Cost, FOLDED};

/// What needs no more of its operands than is asked of its result: instructions whose lower half goes by lower halves alone.
const BY_HALVES: [&str; 9] = ["add.", "sub.", "neg.", "mul.lo.", "mad.lo.", "shl.", "and.", "or.", "xor."];

/// Gives such instructions what they cost in 32 bits.
pub(super) fn halves(program: &mut Program, code: &Code, units: &Units, text: impl Fn(u32) -> String) {
    let mut narrow = vec![false; program.ops.len()];
    // Who asks stands behind who answers.
    for at in (0..program.ops.len()).rev() {
        if !code.insts[at].counted || program.ops[at].writes.len() != 1 {
            continue;
        }
        let words = text(at as u32);
        let extends = words.contains("cvt.s64.s32");
        let is_wide = words.contains("64") && BY_HALVES.iter().any(|name| words.contains(name));
        if !(is_wide || extends) || !is_asked_for_a_half(program, &narrow, &text, at) {
            continue;
        }
        narrow[at] = true;
        let cost = if extends { FOLDED } else { Cost::of(&words.replace("64", "32"), units) };
        program.ops[at].cost = cost;
    }
}

/// Whether all that reads a result, up to where its register is written again, takes its lower half. It is read somewhere.
fn is_asked_for_a_half(program: &Program, narrow: &[bool], text: &impl Fn(u32) -> String, at: usize) -> bool {
    let register = program.ops[at].writes[0];
    let mut asked_for = false;
    for (next, op) in program.ops.iter().enumerate().skip(at + 1) {
        if op.reads.contains(&register) {
            if !(narrow[next] || is_shared_address(op, register) || text(next as u32).contains("cvt.u32.u64")) {
                return false;
            }
            asked_for = true;
        }
        if op.writes.contains(&register) {
            break;
        }
    }
    asked_for
}

fn is_shared_address(op: &Op, register: u32) -> bool {
    let is_shared = matches!(op.kind, Kind::Load(Place::Shared) | Kind::Store(Place::Shared));
    let terms = op.address.as_ref().map_or(&[][..], |address| &address.terms);
    is_shared && terms.iter().any(|term| term.0 == register)
}
