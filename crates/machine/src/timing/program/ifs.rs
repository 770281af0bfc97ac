//! An `if` that stays a branch. The assembler moves loads over it, and unrolls a loop that has no other one.
//!
//! Read in machine code of compute capability 9.0 that NVRTC 13.0 makes of loops with one and two `if`s, with an
//! `else`, with stores and loads in an arm and behind it, and of the same code in a row.

use std::collections::HashMap;

use super::arms::Jumps;
use super::fold::sides;
use super::{Kind, Op, Program};
use crate::code::{Code, MicroOp};

/// A branch over one arm or two in which nothing else goes elsewhere, is stored or needs other lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct If {
    /// Where the ways meet again.
    pub(crate) meet: u32,
    /// Whether there may be something behind it that the assembler moves to before it: a load that another `if`
    /// follows, or one of the next iteration.
    pub(crate) is_passed: bool,
}

/// All of them, by where they stand.
pub(super) fn find(program: &Program, code: &Code) -> HashMap<u32, If> {
    let jumps = Jumps::new(code);
    let meets: HashMap<usize, usize> =
        (0..code.insts.len()).filter_map(|pc| Some((pc, meet(program, code, &jumps, pc)?))).collect();
    let is_passed = |pc: usize, meet: usize| {
        let end = (meet..code.insts.len()).find(|&at| program.ops[at].divides())?;
        let from = match code.insts[end].op {
            MicroOp::Branch { target, .. } if target as usize <= pc => target as usize,
            _ => meet,
        };
        let only = (from..end).filter(|at| meets.contains_key(at)).count() == 1;
        let goes_on = if from < meet { only } else { meets.contains_key(&end) };
        Some(goes_on && program.ops[from..end].iter().any(Op::loads_global))
    };
    let of = |(&pc, &meet): (&usize, &usize)| {
        (pc as u32, If { meet: meet as u32, is_passed: is_passed(pc, meet).unwrap_or(false) })
    };
    meets.iter().map(of).collect()
}

fn meet(program: &Program, code: &Code, jumps: &Jumps, pc: usize) -> Option<usize> {
    let is_predicated = program.predicated.contains_key(&(pc as u32));
    let (around, end) = sides(code, pc).filter(|_| !is_predicated)?;
    let mut arms = (pc + 1..end).filter(|at| !around.contains(at));
    let stays = |at: usize| {
        let op = &program.ops[at];
        let stores = matches!(op.kind, Kind::Store(_) | Kind::Atomic(_) | Kind::Copy) && !op.is_folded();
        !op.divides() && !stores && op.kind != Kind::Shuffle && !op.reconverges
    };
    let begins = |at: usize| around.iter().any(|&from| jumps.leads(from, at));
    let is_if = end < code.insts.len() && arms.all(stays) && (pc + 1..end).all(|at| !jumps.lead_to(at) || begins(at));
    is_if.then_some(end)
}
