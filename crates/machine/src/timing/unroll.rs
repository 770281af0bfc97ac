//! Which loops the assembler unrolls.

use crate::code::{Code, MicroOp, Operands, Role};

/// Iterations that it puts together.
const TIMES: usize = 4;

/// How many iterations of the loop that ends with this instruction are one piece of code: several where the number of iterations is known
/// before the loop, because what is compared grows by a constant.
pub(crate) fn unrolled(code: &Code, pc: u32) -> usize {
    let MicroOp::Branch { p, target, .. } = code.insts[pc as usize].op else { return 1 };
    if target > pc {
        return 1;
    }
    let body = target..=pc;
    let writes = |at: u32| {
        let mut found = Vec::new();
        code.insts[at as usize].op.operands(code, &mut |role, reg| {
            if role == Role::Write {
                found.push((reg.slot, reg.bits));
            }
        });
        found
    };
    let reads = |at: u32| {
        let mut found = Vec::new();
        code.insts[at as usize].op.operands(code, &mut |role, reg| {
            if role != Role::Write {
                found.push((reg.slot, reg.bits));
            }
        });
        found
    };
    let Some(function) = code.functions.iter().flatten().find(|function| (function.start..function.end).contains(&pc))
    else {
        return 1;
    };
    // Such is the loop over the iterations that are left behind one that the compiler unrolled before.
    if function.nounroll.contains(&target) {
        return 1;
    }
    let constants: Vec<(u32, u8)> =
        function.fills.iter().filter(|(fill, _)| fill.known().is_some()).map(|(_, reg)| (reg.slot, reg.bits)).collect();
    let Some(test) = body.clone().rev().find(|&at| writes(at).contains(&(p, 1))) else { return 1 };
    let counts = reads(test).into_iter().any(|register| {
        body.clone().any(|at| {
            let adds = matches!(
                code.insts[at as usize].op,
                MicroOp::Add32(_) | MicroOp::Add64(_) | MicroOp::Sub32(_) | MicroOp::Sub64(_)
            );
            adds && writes(at).contains(&register) && reads(at).iter().any(|read| constants.contains(read))
        })
    });
    if counts { TIMES } else { 1 }
}
