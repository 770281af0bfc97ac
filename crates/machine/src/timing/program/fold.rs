//! What the assembler makes one instruction of.

use std::collections::HashMap;

use super::{Kind, Program};
use crate::code::{AddressOf, Code, MicroOp, Place};
use crate::timing::cost::FOLDED;

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

/// Four neighbouring words of shared memory behind one address are loaded together.
pub(super) fn shared_loads(program: &mut Program, code: &Code) {
    let word = |pc: usize| -> Option<AddressOf> {
        let access = code.access(pc as u32)?;
        (!access.stores && access.place == Place::Shared && access.bytes() == 4).then_some(access.address)
    };
    for first in 0..program.ops.len() {
        let Some(address) = word(first).filter(|address| address.offset % 16 == 0) else { continue };
        if program.ops[first].is_folded() {
            continue;
        }
        let mut found = Vec::new();
        for pc in first + 1..program.ops.len().min(first + NEAR) {
            let op = &program.ops[pc];
            if found.len() == 3 || op.divides() || op.kind == Kind::Store(Place::Shared) {
                break;
            }
            let wanted = address.offset + 4 * (found.len() as i64 + 1);
            if word(pc).is_some_and(|next| next.base == address.base && next.offset == wanted) {
                found.push(pc);
            }
        }
        let (true, Some(&register)) = (found.len() == 3, program.ops[first].writes.first()) else { continue };
        program.ops[first].merged = true;
        for pc in found {
            let op = &mut program.ops[pc];
            (op.cost, op.kind, op.reads) = (FOLDED, Kind::Plain, vec![register]);
        }
    }
}
