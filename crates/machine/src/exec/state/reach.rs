//! Where control can come to from an instruction.

use std::collections::HashMap;

use fusion_ptx::ast::{BarrierOp, Collective};

use crate::code::{Code, Inst, MicroOp, SlowOp, TRUE, Target};

/// How far a way is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Until {
    End,
    /// Until the block meets at a barrier.
    Block,
    /// Until it does, or the warp meets.
    Warp,
}

impl Until {
    fn ends_at(self, code: &Code, inst: &Inst) -> bool {
        match slow(code, inst) {
            Some(SlowOp::Barrier { op: BarrierOp::Arrive, .. }) => false,
            Some(SlowOp::Barrier { threads: None, .. }) => self != Self::End,
            Some(SlowOp::Collective(collective)) => self == Self::Warp && collective.op == Collective::Sync,
            _ => false,
        }
    }
}

/// Answers that are known. They are asked again and again, for every block.
#[derive(Debug, Default)]
pub(crate) struct Reach {
    leads: HashMap<(u32, u32, Until), bool>,
}

impl Reach {
    /// Whether `there` can follow the instruction `here`, and `here` can not follow it.
    pub(crate) fn is_behind(&mut self, code: &Code, here: u32, there: u32) -> bool {
        self.leads(code, here, there, Until::End) && !self.leads(code, there, here, Until::End)
    }

    /// Whether control can come from behind one instruction to another, on a way that is followed so far.
    pub(crate) fn leads(&mut self, code: &Code, from: u32, to: u32, until: Until) -> bool {
        *self.leads.entry((from, to, until)).or_insert_with(|| follow(code, from, to, until))
    }
}

/// Whether control can come from behind the instruction `from` to `to`, through calls and returns, too.
pub(crate) fn reaches(code: &Code, from: u32, to: u32) -> bool {
    follow(code, from, to, Until::End)
}

fn follow(code: &Code, from: u32, to: u32, until: Until) -> bool {
    let mut seen = vec![false; code.insts.len()];
    let mut stack = vec![from + 1];
    while let Some(pc) = stack.pop() {
        if pc == to {
            return true;
        }
        let Some(inst) = code.insts.get(pc as usize) else { continue };
        if std::mem::replace(&mut seen[pc as usize], true) || until.ends_at(code, inst) {
            continue;
        }
        match inst.op {
            MicroOp::Jump(target) => stack.push(target),
            MicroOp::Branch { target, .. } => stack.extend([target, pc + 1]),
            MicroOp::Slow(_) => match slow(code, inst) {
                Some(SlowOp::BranchTable { targets, .. }) => stack.extend(targets),
                Some(SlowOp::Exit | SlowOp::Trap) if inst.guard == TRUE => {}
                Some(SlowOp::Return) => {
                    stack.extend(behind_calls(code, pc));
                    stack.extend((inst.guard != TRUE).then_some(pc + 1));
                }
                Some(SlowOp::Call(call)) => {
                    let called = |id: usize| called(&call.target, id);
                    let functions = code.functions.iter().enumerate().filter(|(id, _)| called(*id));
                    stack.extend(functions.filter_map(|(_, f)| Some(f.as_ref()?.start)));
                    stack.push(pc + 1);
                }
                _ => stack.push(pc + 1),
            },
            _ => stack.push(pc + 1),
        }
    }
    false
}

fn slow<'c>(code: &'c Code, inst: &Inst) -> Option<&'c SlowOp> {
    match inst.op {
        MicroOp::Slow(index) => code.slow.get(index as usize),
        _ => None,
    }
}

/// Whether a call may be one of this function.
fn called(target: &Target, id: usize) -> bool {
    match target {
        Target::Direct(function) => function.index() == id,
        Target::Indirect(_) => true,
        Target::Builtin(_) => false,
    }
}

/// Where the function that holds an instruction may return to.
fn behind_calls(code: &Code, pc: u32) -> Vec<u32> {
    let holds = |f: &crate::code::Function| (f.start..f.end).contains(&pc);
    let Some(own) = code.functions.iter().position(|f| f.as_ref().is_some_and(holds)) else { return Vec::new() };
    if own == code.entry as usize {
        return Vec::new();
    }
    let returns = |inst: &Inst| matches!(slow(code, inst), Some(SlowOp::Call(call)) if called(&call.target, own));
    let calls = code.insts.iter().enumerate().filter(|(_, inst)| returns(inst));
    calls.map(|(at, _)| at as u32 + 1).collect()
}
