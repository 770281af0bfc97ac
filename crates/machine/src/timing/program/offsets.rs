//! Sums of a register and a constant of which only addresses are made: an access has room for the constant.
//!
//! NVVM leaves them where a program states the access as inline PTX, such as `ldmatrix`: machine code of compute
//! capability 9.0 that NVRTC 13.0 makes has one register for all of a tile's addresses, and none of the sums.

use smallvec::SmallVec;

use super::{Numbers, Program};
use crate::code::{AddressOf, Code, MicroOp, SlowOp, TRUE};
use crate::timing::cost::FOLDED;

/// Constants that an access has room for: 24 bits with their sign, as machine code shows it.
const ROOM: std::ops::Range<i64> = -(1 << 23)..1 << 23;

/// What a register is: another one, and a constant.
#[derive(Clone, Copy, Debug)]
struct Offset {
    base: u32,
    constant: i64,
}

/// Lets accesses name the register behind such a sum, which then costs nothing.
pub(super) fn fold(program: &mut Program, code: &Code, numbers: &Numbers) {
    // What goes from function to function is not named.
    if code.functions.iter().flatten().count() > 1 {
        return;
    }
    let mut offsets = offsets(program, code, numbers);
    // As if all were folded: what an access has no room for then, stays.
    let mut numbered = beyond(program, code, numbers, &offsets);
    numbered.extend(read_as_numbers(program, code, numbers, &offsets));
    while let Some(register) = numbered.pop() {
        // It is computed, and what it is computed from is a number, too.
        numbered.extend(offsets[register as usize].take().map(|offset| offset.base));
    }
    let resolved = resolved(program, &offsets);
    for op in &mut program.ops {
        if is_offset(op, &offsets) {
            op.cost = FOLDED;
            continue;
        }
        for read in &mut op.reads {
            *read = resolved[*read as usize].base;
        }
        if let Some(address) = &mut op.address {
            address.replace(|register| {
                let Offset { base, constant } = resolved[register as usize];
                (base, constant)
            });
        }
    }
}

fn is_offset(op: &super::Op, offsets: &[Option<Offset>]) -> bool {
    matches!(op.writes[..], [written] if offsets[written as usize].is_some())
}

/// Of each register that is written once: the register and the constant of which it is the sum, where that one is
/// written once, too, and before it. Special registers are written nowhere.
fn offsets(program: &Program, code: &Code, numbers: &Numbers) -> Vec<Option<Offset>> {
    let mut writers = vec![0_u32; program.registers];
    for &register in program.ops.iter().flat_map(|op| &op.writes) {
        writers[register as usize] += 1;
    }
    let mut written = vec![false; program.registers];
    let mut offsets = vec![None; program.registers];
    for ((pc, inst), op) in (0..).zip(&code.insts).zip(&program.ops) {
        if let &[register] = &op.writes[..]
            && writers[register as usize] == 1
            && inst.guard == TRUE
        {
            let offset = match (inst.op, &op.value) {
                // Of an address of 64 bits, shared memory needs the lower half.
                (MicroOp::Truncate64(s), _) => Some(Offset { base: numbers.of(pc, s.a, 64), constant: 0 }),
                (_, Some(sum)) => match sum.terms[..] {
                    [(base, 1)] => Some(Offset { base, constant: sum.constant }),
                    _ => None,
                },
                _ => None,
            };
            let is_known = |offset: &Offset| writers[offset.base as usize] == 1 && written[offset.base as usize];
            offsets[register as usize] = offset.filter(is_known);
        }
        op.writes.iter().for_each(|&register| written[register as usize] = true);
    }
    offsets
}

/// What each register is, by the last of the registers that it is an offset of. These are written earlier in the code,
/// so that going through it once is enough.
fn resolved(program: &Program, offsets: &[Option<Offset>]) -> Vec<Offset> {
    let mut resolved: Vec<Offset> = (0..offsets.len() as u32).map(|base| Offset { base, constant: 0 }).collect();
    for &register in program.ops.iter().flat_map(|op| &op.writes) {
        if let Some(Offset { base, constant }) = offsets[register as usize] {
            let Offset { base, constant: other } = resolved[base as usize];
            resolved[register as usize] = Offset { base, constant: other.saturating_add(constant) };
        }
    }
    resolved
}

/// Registers that accesses have no room for, as far as they are offsets of others.
fn beyond(program: &Program, code: &Code, numbers: &Numbers, offsets: &[Option<Offset>]) -> Vec<u32> {
    let resolved = resolved(program, offsets);
    let mut beyond = Vec::new();
    for pc in 0..program.ops.len() as u32 {
        for address in addresses(code, pc) {
            let Some(register) = numbers.of_base(pc, address.base) else { continue };
            if !ROOM.contains(&resolved[register as usize].constant.saturating_add(address.offset)) {
                beyond.push(register);
            }
        }
    }
    beyond
}

/// Registers that are read as something other than an address.
fn read_as_numbers(program: &Program, code: &Code, numbers: &Numbers, offsets: &[Option<Offset>]) -> Vec<u32> {
    let mut read = Vec::new();
    for (pc, op) in (0..).zip(&program.ops).filter(|(_, op)| !is_offset(op, offsets)) {
        let addresses: SmallVec<[u32; 2]> =
            addresses(code, pc).iter().filter_map(|address| numbers.of_base(pc, address.base)).collect();
        let times = |register: &u32, of: &[u32]| of.iter().filter(|&other| other == register).count();
        read.extend(op.reads.iter().filter(|register| times(register, &op.reads) > times(register, &addresses)));
    }
    read
}

/// The addresses in which machine code has room for a constant.
fn addresses(code: &Code, pc: u32) -> SmallVec<[AddressOf; 2]> {
    match (code.access(pc), code.slow_at(pc)) {
        (Some(access), _) => SmallVec::from_iter([access.address]),
        (_, Some(SlowOp::CopyAsync { dst, src, .. })) => SmallVec::from_iter([*dst, *src]),
        (_, Some(SlowOp::Atomic(atomic))) => SmallVec::from_iter([atomic.address]),
        _ => SmallVec::new(),
    }
}
