//! What the assembler makes one instruction of.

use std::collections::HashMap;

use super::alignment::Alignment;
use super::arms::Jumps;
use super::linear::Reader;
use super::{Kind, Numbers, Op, Program};
use crate::code::{AddressOf, Code, MicroOp, Place, TRUE};
use crate::timing::cost::FOLDED;
use crate::timing::effect::Predicated;

/// How far behind a load its neighbours are looked for.
const NEAR: usize = 200;

/// A product of 64 bits that is only added to something, such as an address, is one instruction with the sum.
pub(super) fn products(program: &mut Program, code: &Code) {
    let mut readers = vec![0_u32; program.registers];
    for register in program.ops.iter().flat_map(|op| &op.reads) {
        readers[*register as usize] += 1;
    }
    let mut products: HashMap<u32, usize> = HashMap::new();
    for (pc, inst) in code.insts.iter().enumerate() {
        match (inst.op, &program.ops[pc].writes[..]) {
            _ if program.ops[pc].is_folded() => {}
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

/// What one instruction of the machine does of two in PTX, side by side: a comparison combines what it finds with
/// another predicate (`ISETP.AND`), and a sum takes the upper bits of an operand, as in the quotient of a number with a
/// sign by a power of two (`LEA.HI`).
pub(super) fn combined(program: &mut Program, code: &Code, numbers: &Numbers) {
    let mut readers = vec![0_u32; program.registers];
    let mut writers: Vec<Option<usize>> = vec![None; program.registers];
    let mut written = vec![0_u32; program.registers];
    for (pc, op) in program.ops.iter().enumerate() {
        op.reads.iter().for_each(|&register| readers[register as usize] += 1);
        op.writes.iter().for_each(|&register| {
            writers[register as usize] = Some(pc);
            written[register as usize] += 1;
        });
    }
    let reader = Reader::new(code, numbers);
    let jumps = Jumps::new(code);
    for pc in 0..program.ops.len() {
        if program.ops[pc].is_folded() {
            continue;
        }
        // The instruction that makes an operand for this one alone, in the same piece of code.
        let maker = |&register: &u32| {
            let at = writers[register as usize].filter(|_| written[register as usize] == 1)?;
            let is_near = at < pc && pc - at <= NEAR;
            let is_one_piece =
                || (at + 1..=pc).all(|between| !jumps.lead_to(between) && !program.ops[between - 1].divides());
            (readers[register as usize] == 1 && is_near && !program.ops[at].is_folded() && is_one_piece()).then_some(at)
        };
        let reads = program.ops[pc].reads.clone();
        match code.insts[pc].op {
            MicroOp::LogicP(..) => {
                let is_constant = |&register: &u32| reader.is_constant(register);
                if reads.iter().any(is_constant)
                    || reads.iter().filter_map(maker).any(|at| is_free_comparison(code, code.insts[at].op))
                {
                    program.ops[pc].cost = FOLDED;
                }
            }
            MicroOp::Add32(_) => {
                let is_shift = |&at: &usize| match code.insts[at].op {
                    MicroOp::ShrU32(s) => {
                        reader.constant(at as u32, s.b, 32).is_some_and(|places| (1..32).contains(&places))
                    }
                    _ => false,
                };
                if let Some(at) = reads.iter().filter_map(maker).find(is_shift) {
                    program.ops[pc].cost = program.ops[at].cost;
                    program.ops[at].cost = FOLDED;
                }
            }
            _ => {}
        }
    }
}

/// A comparison that combines its result with nothing yet.
fn is_free_comparison(code: &Code, op: MicroOp) -> bool {
    use MicroOp::{Setp, SetpF32, SetpF32Ftz, SetpS32, SetpS64, SetpU32, SetpU64};
    match op {
        Setp(index) => code.comparisons.get(index as usize).is_some_and(|comparison| comparison.combine.is_none()),
        _ => matches!(op, SetpF32(_) | SetpF32Ftz(_) | SetpS32(_) | SetpS64(_) | SetpU32(_) | SetpU64(_)),
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
            Kind::Store(Place::Shared | Place::Generic)
                | Kind::Atomic(Place::Shared | Place::Generic)
                | Kind::Copy
                | Kind::BulkLoad
                | Kind::MbarrierWait
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

/// What a branch leads over: where it and the jumps between its arms stand, and where the ways meet again.
///
/// Behind the one arm may stand the other, which a jump leads around. Of a condition that NVVM has turned around, the
/// first arm is that jump alone, and the other one has a jump, too: `@p bra A; bra B; A: ...; bra M; B: ...; M:`.
pub(super) fn sides(code: &Code, pc: usize) -> Option<(Vec<usize>, usize)> {
    let over = |pc: usize| match code.insts.get(pc)?.op {
        MicroOp::Branch { target, .. } | MicroOp::Jump(target) => Some(target as usize).filter(|&target| target > pc),
        _ => None,
    };
    let mut end = over(pc).filter(|_| matches!(code.insts[pc].op, MicroOp::Branch { .. }))?;
    let mut jumps = vec![pc];
    let around = |end: usize| over(end - 1).filter(|_| matches!(code.insts[end - 1].op, MicroOp::Jump(_)));
    if let Some(other) = around(end) {
        let is_turned = end - 1 == pc + 1;
        jumps.push(end - 1);
        end = other;
        if let Some(meet) = around(end).filter(|_| is_turned) {
            jumps.push(end - 1);
            end = meet;
        }
    }
    Some((jumps, end))
}

/// What jumps over a few instructions is no jump: they have its predicate instead.
pub(super) fn short_branches(program: &mut Program, code: &Code, most: Predicated) {
    let all = Jumps::new(code);
    for pc in 0..program.ops.len() {
        let Some((jumps, end)) = sides(code, pc) else { continue };
        if all.is_alone(program, code, pc, end) {
            continue;
        }
        let inside = |at: &usize| !jumps.contains(at);
        let mut between = (pc..end).filter(inside).map(|at| &program.ops[at]);
        let loads = (pc..end).any(|at| matches!(program.ops[at].kind, Kind::Load(_)) && !program.ops[at].is_folded());
        let most = if all.is_in_loop(pc) && !loads { most.in_loop } else { most.otherwise };
        let issued = (pc..end).filter(inside).map(|at| program.ops[at].cost.issues).sum::<f64>();
        if end >= program.ops.len() || issued > most || between.any(Op::divides) {
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
