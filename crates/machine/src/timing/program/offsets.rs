//! Sums of a register and a constant of which only addresses are made: an access has room for the constant.
//!
//! NVVM leaves them where a program states the access as inline PTX, such as `ldmatrix`: machine code of compute
//! capability 9.0 that NVRTC 13.0 makes has one register for all of a tile's addresses, and none of the sums.

use super::{Numbers, Program};
use crate::code::{Code, MicroOp, Operands as _, Reg, Role, TRUE};
use crate::timing::cost::FOLDED;

/// Constants that an access has room for: 24 bits with their sign (CUDA Binary Utilities, as machine code shows it).
const ROOM: std::ops::Range<i64> = -(1 << 23)..1 << 23;

/// The register that stands for another with a constant added.
type Root = (u32, i64);

/// Lets accesses name the register behind such a sum, which then costs nothing.
pub(super) fn fold(program: &mut Program, code: &Code, numbers: &Numbers) {
    let mut roots = roots(program, code, numbers);
    keep_addresses(program, code, numbers, &mut roots);
    let root = |register: u32| {
        let mut found = (register, 0);
        while let Some((next, constant)) = roots[found.0 as usize] {
            found = (next, found.1 + constant);
        }
        found
    };
    for op in &mut program.ops {
        if let [written] = op.writes[..]
            && roots[written as usize].is_some()
        {
            op.cost = FOLDED;
            continue;
        }
        for read in &mut op.reads {
            *read = root(*read).0;
        }
        if let Some(address) = &mut op.address {
            address.replace(root);
        }
    }
}

/// Of each register that is written once, as another of which the same is true and a constant: those two.
fn roots(program: &Program, code: &Code, numbers: &Numbers) -> Vec<Option<Root>> {
    let mut written = vec![0_u32; program.registers];
    for &register in program.ops.iter().flat_map(|op| &op.writes) {
        written[register as usize] += 1;
    }
    let mut roots = vec![None; program.registers];
    for ((pc, inst), op) in (0..).zip(&code.insts).zip(&program.ops) {
        let &[register] = &op.writes[..] else { continue };
        let root = match (inst.op, &op.value) {
            _ if inst.guard != TRUE => None,
            // Of an address of 64 bits, shared memory needs the lower half.
            (MicroOp::Truncate64(s), _) => Some((numbers.of(pc, s.a, 64), 0)),
            (_, Some(sum)) => match sum.terms[..] {
                [(base, 1)] if ROOM.contains(&sum.constant) => Some((base, sum.constant)),
                _ => None,
            },
            _ => None,
        };
        let once = |&(base, _): &Root| base != register && written[base as usize] <= 1;
        roots[register as usize] = root.filter(once).filter(|_| written[register as usize] == 1);
    }
    roots
}

/// Forgets those that are read as something other than an address.
fn keep_addresses(program: &Program, code: &Code, numbers: &Numbers, roots: &mut [Option<Root>]) {
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for ((pc, inst), op) in (0..).zip(&code.insts).zip(&program.ops) {
            if let [written] = op.writes[..]
                && roots[written as usize].is_some()
            {
                continue;
            }
            let (mut addresses, mut others) = (Vec::new(), Vec::new());
            inst.op.operands(code, &mut |role, reg: Reg| match role {
                _ if reg.bits == 1 => {}
                Role::Write => {}
                Role::Address => addresses.push(numbers.of(pc, reg.slot, reg.bits)),
                _ => others.push(numbers.of(pc, reg.slot, reg.bits)),
            });
            others.extend(op.reads.iter().filter(|read| !addresses.contains(read)));
            others.iter().for_each(|&other| changed |= roots[other as usize].take().is_some());
        }
    }
}
