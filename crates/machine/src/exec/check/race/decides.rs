//! What becomes of what a read has found.

use crate::code::{Argument, Code, Function, MicroOp, Operands, Place, Reg, Role, SlowOp};

/// What a thread does with what it has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// It computes with it, if that.
    Nothing,
    /// It goes where that says.
    Address,
    /// A comparison depends on it, or whoever it is handed to may compare it: the rest of the block, or a caller.
    Decides,
}

/// What becomes of what the instruction at `pc` gives. Only a thread that has looked at what it has read knows what came before;
/// that of one which has not is ordered by the chance of one schedule.
pub(super) fn used(code: &Code, pc: u32) -> Use {
    let Some(function) = function(code, pc) else { return Use::Nothing };
    let (steps, derived) = followers(code, function, pc);
    let derives = |argument: &Argument| match argument {
        Argument::Register(reg) => derived.contains(&file(*reg)),
        // It was stored there.
        Argument::Frame { .. } => false,
    };
    let hands_on = |step: &Step| match code.slow_at(step.at) {
        Some(SlowOp::BranchTable { .. }) => true,
        _ => {
            let private = |place| !matches!(place, Place::Global | Place::Constant);
            step.value && code.access(step.at).is_some_and(|access| access.stores && private(access.place))
        }
    };
    let calls = (function.start..function.end).filter_map(|at| match code.slow_at(at) {
        Some(SlowOp::Call(call)) => Some(call),
        _ => None,
    });
    if steps.iter().any(|step| step.decided().next().is_some() || hands_on(step))
        || function.returns.iter().chain(calls.flat_map(|call| &call.args)).any(derives)
    {
        return Use::Decides;
    }
    if steps.iter().any(|step| step.address) { Use::Address } else { Use::Nothing }
}

pub(super) fn decides(code: &Code, pc: u32) -> bool {
    used(code, pc) == Use::Decides
}

/// Whether the read at `pc` is one of data: it is stored, or computed with for what is. Of a flag all that counts is how it
/// compares, and what a loop waits for may be anything.
pub(super) fn is_data(code: &Code, pc: u32) -> bool {
    let Some(function) = function(code, pc) else { return false };
    let mut stored = false;
    let mut decided: Vec<Reg> = Vec::new();
    for step in followers(code, function, pc).0 {
        stored |= step.writes.is_empty();
        decided.extend(step.decided());
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

/// An instruction that works with what another gives, or with what others have made of it.
struct Step {
    at: u32,
    /// It takes that as an address, and as anything else.
    address: bool,
    value: bool,
    writes: Vec<Reg>,
}

impl Step {
    /// The predicates that it writes.
    fn decided(&self) -> impl Iterator<Item = Reg> {
        self.writes.iter().copied().filter(|reg| reg.bits == 1)
    }
}

/// A register's file and slot.
fn file(reg: Reg) -> (bool, u32) {
    (reg.bits == 64, reg.slot)
}

/// The instructions of a function that work with what the one at `pc` gives, and the registers that hold something of it.
fn followers(code: &Code, function: &Function, pc: u32) -> (Vec<Step>, Vec<(bool, u32)>) {
    let mut derived: Vec<(bool, u32)> = Vec::new();
    loop {
        let (known, mut found) = (derived.len(), Vec::new());
        for at in function.start..function.end {
            let Some(inst) = code.insts.get(at as usize) else { continue };
            let mut step = Step { at, address: false, value: at == pc, writes: Vec::new() };
            inst.op.operands(code, &mut |role, reg: Reg| {
                let follows = reg.bits != 1 && derived.contains(&file(reg));
                match role {
                    Role::Write => step.writes.push(reg),
                    Role::Address => step.address |= follows,
                    _ => step.value |= follows,
                }
            });
            if !(step.address || step.value) {
                continue;
            }
            for reg in step.writes.iter().filter(|reg| reg.bits != 1) {
                if !derived.contains(&file(*reg)) {
                    derived.push(file(*reg));
                }
            }
            if at != pc {
                found.push(step);
            }
        }
        if derived.len() == known {
            return (found, derived);
        }
    }
}
