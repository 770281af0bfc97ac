//! What becomes of what a read has found.

use crate::code::{Code, Function, MicroOp, Operands, Reg, Role};

/// Whether a comparison depends on what the instruction at `pc` gives. Only a thread that has looked at what it has read knows
/// what came before; that of one which has not is ordered by the chance of one schedule.
pub(super) fn decides(code: &Code, pc: u32) -> bool {
    let Some(function) = function(code, pc) else { return false };
    followers(code, function, pc).any(|writes| writes.iter().any(|reg| reg.bits == 1))
}

/// Whether the read at `pc` is one of data: it is stored, or computed with for what is. Of a flag all that counts is how it
/// compares, and what a loop waits for may be anything.
pub(super) fn is_data(code: &Code, pc: u32) -> bool {
    let Some(function) = function(code, pc) else { return false };
    let mut stored = false;
    let mut decided: Vec<Reg> = Vec::new();
    for writes in followers(code, function, pc) {
        stored |= writes.is_empty();
        decided.extend(writes.iter().filter(|reg| reg.bits == 1));
    }
    stored && !waits_for(code, function, pc, &decided)
}

/// Whether the smallest loop around an instruction is left, or gone on with, by one of these predicates.
fn waits_for(code: &Code, function: &Function, pc: u32, predicates: &[Reg]) -> bool {
    let ops = || (function.start..function.end).filter_map(|at| Some((at, &code.insts.get(at as usize)?.op)));
    let target = |op: &MicroOp| match *op {
        MicroOp::Jump(target) | MicroOp::Branch { target, .. } => Some(target),
        _ => None,
    };
    let back =
        |(at, op): (u32, &MicroOp)| target(op).filter(|start| (*start..=at).contains(&pc)).map(|start| (start, at));
    let Some((start, end)) = ops().filter_map(back).min_by_key(|(start, end)| end - start) else { return false };
    ops().filter(|(at, _)| (start..=end).contains(at)).any(|(at, op)| {
        let MicroOp::Branch { target, .. } = *op else { return false };
        let mut decided = false;
        op.operands(code, &mut |_, reg: Reg| decided |= predicates.contains(&reg));
        decided && (at == end || !(start..=end).contains(&target))
    })
}

/// The function that an instruction belongs to.
pub(super) fn function(code: &Code, pc: u32) -> Option<&Function> {
    code.functions.iter().flatten().find(|f| (f.start..f.end).contains(&pc))
}

/// Of each instruction of a function that works with what the one at `pc` gives, or with what others have made of it: the
/// registers that it writes.
fn followers(code: &Code, function: &Function, pc: u32) -> impl Iterator<Item = Vec<Reg>> {
    let mut derived: Vec<(bool, u32)> = Vec::new();
    let file = |reg: Reg| (reg.bits == 64, reg.slot);
    loop {
        let (known, mut found) = (derived.len(), Vec::new());
        for at in function.start..function.end {
            let Some(inst) = code.insts.get(at as usize) else { continue };
            let (mut follows, mut writes) = (at == pc, Vec::new());
            inst.op.operands(code, &mut |role, reg: Reg| match role {
                Role::Write => writes.push(reg),
                _ => follows |= reg.bits != 1 && derived.contains(&file(reg)),
            });
            if !follows {
                continue;
            }
            for reg in writes.iter().filter(|reg| reg.bits != 1) {
                if !derived.contains(&file(*reg)) {
                    derived.push(file(*reg));
                }
            }
            if at != pc {
                found.push(writes);
            }
        }
        if derived.len() == known {
            return found.into_iter();
        }
    }
}
