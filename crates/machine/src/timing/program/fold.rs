//! What the assembler makes one instruction of.

use std::collections::HashMap;

use super::alignment::Alignment;
use super::arms::Jumps;
use super::{Kind, Numbers, Op, Program};
use crate::code::{AddressOf, Code, MicroOp, Place, TRUE};
use crate::timing::cost::FOLDED;

/// How far behind a load its neighbours are looked for.
const NEAR: usize = 200;

/// A product of 64 bits that is only added to something, such as an address, is one instruction with the sum.
pub(super) fn products(program: &mut Program, code: &Code) {
    let readers = readers(program);
    let mut products: HashMap<u32, usize> = HashMap::new();
    for (pc, inst) in code.insts.iter().enumerate() {
        match (inst.op, &program.ops[pc].writes[..]) {
            (MicroOp::MulWideU(_) | MicroOp::MulWideS(_), &[register]) => {
                products.insert(register, pc);
            }
            (MicroOp::Add64(_), _) => {
                let reads = &program.ops[pc].reads;
                let once = reads.iter().filter(|&&register| readers[register as usize] == 1);
                if let Some(product) = once.filter_map(|register| products.get(register)).next().copied() {
                    program.ops[pc].cost = program.ops[product].cost;
                    program.ops[product].cost = FOLDED;
                }
            }
            _ => {}
        }
    }
}

/// How many instructions read each register.
fn readers(program: &Program) -> Vec<u32> {
    let mut readers = vec![0_u32; program.registers];
    for register in program.ops.iter().flat_map(|op| &op.reads) {
        readers[*register as usize] += 1;
    }
    readers
}

/// How many instructions the assembler takes one to be when it chooses between a branch and a predicate. It has not yet split those of 64
/// bits in two, and a shift whose result is only added to something is one with the sum.
fn instructions(program: &Program, code: &Code, readers: &[u32], pc: usize) -> f64 {
    use MicroOp::{Add64, And64, Or64, SetpS64, SetpU64, Shl64, ShrS64, ShrU64, Sub64, Xor64};
    let op = &program.ops[pc];
    let is_only_added = || {
        let mut behind = pc + 1..program.ops.len();
        let only = |register: &u32| readers[*register as usize] == 1;
        op.writes.iter().all(only)
            && behind
                .find(|&at| op.writes.iter().any(|register| program.ops[at].reads.contains(register)))
                .is_some_and(|at| matches!(code.insts[at].op, Add64(_)))
    };
    match code.insts[pc].op {
        _ if op.is_folded() => 0.0,
        Shl64(_) if is_only_added() => 0.0,
        Add64(_) | Sub64(_) | And64(_) | Or64(_) | Xor64(_) | Shl64(_) | ShrS64(_) | ShrU64(_) | SetpS64(_)
        | SetpU64(_) => 1.0,
        _ => op.cost.issues,
    }
}

/// Neighbouring words of shared memory behind one address are loaded together, unless they are volatile: two or four, as far as the address
/// is known to be a multiple of their bytes. Of four, the last may be missing.
pub(super) fn shared_loads(program: &mut Program, code: &Code, numbers: &Numbers) {
    let alignment = Alignment::new(code, numbers, program.registers);
    let word = |pc: usize| -> Option<AddressOf> {
        let access = code.access(pc as u32)?;
        let is_word = !access.stores && !access.order.volatile && access.place == Place::Shared && access.bytes() == 4;
        (is_word && code.insts[pc].guard == TRUE).then_some(access.address)
    };
    let writes_shared = |kind: Kind| {
        matches!(
            kind,
            Kind::Store(Place::Shared | Place::Generic) | Kind::Atomic(Place::Shared | Place::Generic) | Kind::Copy
        )
    };
    for first in 0..program.ops.len() {
        let Some(address) = word(first) else { continue };
        // What its address is made of.
        let bases = program.ops[first].reads.clone();
        let zeros = bases.iter().map(|&base| alignment.of(base)).fold(address.offset.trailing_zeros(), u32::min);
        let most = match zeros {
            0..3 => continue,
            3 => 2,
            _ => 4,
        };
        if program.ops[first].is_folded() || bases.iter().any(|base| program.ops[first].writes.contains(base)) {
            continue;
        }
        let mut found = Vec::new();
        for pc in first + 1..program.ops.len().min(first + NEAR) {
            let op = &program.ops[pc];
            let moves_base = pc > first + 1 && bases.iter().any(|base| program.ops[pc - 1].writes.contains(base));
            if found.len() + 1 == most || op.divides() || writes_shared(op.kind) || moves_base {
                break;
            }
            let wanted = address.offset + 4 * (found.len() as i64 + 1);
            if word(pc).is_some_and(|next| next.base == address.base && next.offset == wanted) {
                found.push(pc);
            }
        }
        let Some(&register) = program.ops[first].writes.first().filter(|_| !found.is_empty()) else { continue };
        // The banks give two words of each lane in the passes in which they give one.
        program.ops[first].merged = found.len() > 1;
        program.ops[first].bytes = if found.len() > 1 { 16 } else { 8 };
        for pc in found {
            let op = &mut program.ops[pc];
            (op.cost, op.kind, op.reads) = (FOLDED, Kind::Plain, vec![register]);
        }
    }
}

/// What jumps over a few instructions, up to `most`, is no jump: they have its predicate instead.
///
/// Read in machine code of compute capability 9.0 that NVRTC 13.0 makes of arms of 0 to 13 instructions.
pub(super) fn short_branches(program: &mut Program, code: &Code, most: f64) {
    let readers = readers(program);
    let over = |pc: usize| match code.insts[pc].op {
        MicroOp::Branch { target, .. } | MicroOp::Jump(target) => Some(target as usize).filter(|&target| target > pc),
        _ => None,
    };
    let all = Jumps::new(code);
    for pc in 0..program.ops.len() {
        let (MicroOp::Branch { .. }, Some(mut end)) = (code.insts[pc].op, over(pc)) else { continue };
        // Behind the one side may stand the other, which a jump leads around.
        let mut jumps = vec![pc];
        if let Some(other) = over(end - 1).filter(|_| matches!(code.insts[end - 1].op, MicroOp::Jump(_))) {
            jumps.push(end - 1);
            end = other;
        }
        if all.is_alone(program, code, pc, end) {
            continue;
        }
        let inside = |at: &usize| !jumps.contains(at);
        let mut between = (pc..end).filter(inside).map(|at| &program.ops[at]);
        let length = (pc..end).filter(inside).map(|at| instructions(program, code, &readers, at)).sum::<f64>();
        if end >= program.ops.len() || length > most || between.any(Op::divides) {
            continue;
        }
        let predicate = program.ops[pc].reads.clone();
        for at in pc..end {
            let op = &mut program.ops[at];
            if jumps.contains(&at) {
                (op.kind, op.cost) = (Kind::Plain, FOLDED);
            } else {
                op.reads.extend_from_slice(&predicate);
            }
        }
        program.predicated.insert(pc as u32, end as u32);
    }
}
