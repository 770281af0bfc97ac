//! Whether what a read has found decides what its thread does next.

use crate::code::{Code, Operands, Reg, Role};

/// Whether a comparison depends on what the instruction at `pc` gives. Only a thread that has looked at what it has read knows
/// what came before; that of one which has not is ordered by the chance of one schedule.
pub(super) fn decides(code: &Code, pc: u32) -> bool {
    let Some(function) = code.functions.iter().flatten().find(|f| (f.start..f.end).contains(&pc)) else { return false };
    let mut derived: Vec<(bool, u32)> = Vec::new();
    let file = |reg: Reg| (reg.bits == 64, reg.slot);
    let mut known = 0;
    loop {
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
            if writes.iter().any(|reg| reg.bits == 1) && at != pc {
                return true;
            }
            for reg in writes.into_iter().filter(|reg| reg.bits != 1) {
                if !derived.contains(&file(reg)) {
                    derived.push(file(reg));
                }
            }
        }
        if std::mem::replace(&mut known, derived.len()) == derived.len() {
            return false;
        }
    }
}
