//! Arithmetic of 64 bits of which only the lower half is asked for: the assembler leaves out the upper one.
//!
//! An address of shared memory has 32 bits (PTX ISA 5.1.7), however wide the registers are in which PTX computes it.

use super::{Kind, Op, Program};
use crate::code::{Code, Place};
use crate::profile::Units;
use crate::timing::cost::{Cost, FOLDED, opcode};

/// What needs no more of its operands than is asked of its result: integer instructions whose lower half goes by lower
/// halves alone.
const BY_HALVES: [&str; 9] = ["add.", "sub.", "neg.", "mul.lo.", "mad.lo.", "shl.", "and.", "or.", "xor."];

/// Gives such instructions what they cost in 32 bits. Who asks for a result stands behind it in the code, up to where
/// its register is written again; what comes back from the end of a loop is not looked at.
pub(super) fn halves(program: &mut Program, code: &Code, units: &Units, text: impl Fn(u32) -> String) {
    // Of each register, whether all that read it take its lower half; nothing where none does.
    let mut asked: Vec<Option<bool>> = vec![None; program.registers];
    for (at, op) in program.ops.iter_mut().enumerate().rev() {
        let words = if code.insts[at].counted { text(at as u32) } else { String::new() };
        let mut narrow = false;
        if let [register] = op.writes[..]
            && asked[register as usize] == Some(true)
        {
            if is_by_halves(opcode(&words)) {
                narrow = true;
                op.cost = Cost::of(&words.replace("64", "32"), units);
            } else if opcode(&words) == "cvt.s64.s32" {
                op.cost = FOLDED;
            }
        }
        for &register in &op.writes {
            asked[register as usize] = None;
        }
        let truncates = opcode(&words) == "cvt.u32.u64";
        for &register in &op.reads {
            let half = narrow || truncates || is_shared_address(op, register);
            let asked = &mut asked[register as usize];
            *asked = Some(asked.unwrap_or(true) && half);
        }
    }
}

fn is_by_halves(opcode: &str) -> bool {
    let is_wide = ["s64", "u64", "b64"].iter().any(|ty| opcode.ends_with(ty));
    is_wide && !opcode.contains(".cc") && BY_HALVES.iter().any(|name| opcode.starts_with(name))
}

/// Whether a register is the address of an access to shared memory, and not what is stored there.
fn is_shared_address(op: &Op, register: u32) -> bool {
    let is_shared = matches!(op.kind, Kind::Load(Place::Shared) | Kind::Store(Place::Shared));
    let terms = op.address.as_ref().map_or(&[][..], |address| &address.terms);
    let reads = op.reads.iter().filter(|read| **read == register).count();
    is_shared && reads == 1 && terms.iter().any(|term| term.0 == register)
}
