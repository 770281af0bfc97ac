//! What the assembler makes of an `if` inside of what a branch encloses: it may stay a branch, and what was loaded behind it may be moved.
//!
//! Read in machine code of compute capability 9.0 that NVRTC 13.0 makes.

use std::collections::{HashMap, HashSet};

use super::{Kind, Program};
use crate::code::{Code, MicroOp, Place};
use crate::timing::cost::MOVE;

/// Instructions that a short `if` leads over, at most.
const SHORT: usize = 4;

/// Branches and jumps: for each place that one leads to, where they stand.
pub(super) struct Jumps(HashMap<usize, Vec<usize>>);

impl Jumps {
    pub(super) fn new(code: &Code) -> Self {
        let mut from: HashMap<usize, Vec<usize>> = HashMap::new();
        for (pc, inst) in code.insts.iter().enumerate() {
            if let MicroOp::Branch { target, .. } | MicroOp::Jump(target) = inst.op {
                from.entry(target as usize).or_default().push(pc);
            }
        }
        Self(from)
    }

    pub(super) fn lead_to(&self, pc: usize) -> bool {
        self.0.contains_key(&pc)
    }

    /// Whether what stands at `from` leads to a place.
    pub(super) fn leads(&self, from: usize, pc: usize) -> bool {
        self.0.get(&pc).is_some_and(|all| all.iter().all(|&it| it == from))
    }

    /// Whether a branch is all that an arm of another begins with, but for what its condition is computed from, and no other `if` follows
    /// where it leads to, at `end`. It stays a branch: under a predicate there would be nothing to do while the load is on its way.
    pub(super) fn is_alone(&self, program: &Program, code: &Code, pc: usize, end: usize) -> bool {
        let Some(begin) = self.begin_of_condition(program, pc) else { return false };
        let from = self.0.get(&begin).map_or(&[][..], Vec::as_slice);
        let enters = match begin.checked_sub(1).map(|before| code.insts[before].op) {
            Some(MicroOp::Branch { target, .. }) => target as usize > pc && from.is_empty(),
            Some(MicroOp::Jump(_)) => !from.is_empty() && from.iter().all(|&from| from < begin),
            _ => false,
        };
        enters && !another_follows(program, code, end)
    }

    /// Whether something behind a branch leads back to it, or to before it.
    pub(super) fn is_in_loop(&self, pc: usize) -> bool {
        self.0.iter().any(|(&target, from)| target <= pc && from.iter().any(|&from| from >= pc))
    }

    /// From where on nothing but the condition of a branch is computed, if that is all since the last branch or the last place that one leads to.
    fn begin_of_condition(&self, program: &Program, pc: usize) -> Option<usize> {
        let mut needed: HashSet<u32> = program.ops[pc].reads.iter().copied().collect();
        let mut begin = pc;
        while begin > 0 && !self.0.contains_key(&begin) {
            let op = &program.ops[begin - 1];
            if op.divides() {
                break;
            }
            if op.writes.iter().any(|register| needed.contains(register)) {
                needed.extend(&op.reads);
            } else if !op.is_folded() {
                return None;
            }
            begin -= 1;
        }
        Some(begin)
    }
}

/// Whether the next branch behind a place leads over something else, and no further than a few instructions.
fn another_follows(program: &Program, code: &Code, from: usize) -> bool {
    let Some(at) = (from..code.insts.len()).find(|&at| program.ops[at].divides()) else { return false };
    matches!(code.insts[at].op, MicroOp::Branch { target, .. } if (at + 1..=at + SHORT).contains(&(target as usize)))
}

/// What was loaded in one piece, or is something else where a branch leads around the load, lies in registers side by side. Where it is moved
/// to registers that have other values on other ways, these are others: the moves are instructions. They stand where the ways meet again,
/// wherever PTX has them, and wait there for what was loaded.
pub(super) fn moves(program: &mut Program, code: &Code) {
    let mut definitions = vec![0_u32; program.registers];
    for register in program.ops.iter().flat_map(|op| &op.writes) {
        definitions[*register as usize] += 1;
    }
    let several = |register: &u32| definitions[*register as usize] > 1;
    // Of each register that was loaded in a piece and has not been written since, where the ways meet.
    let mut pieces: HashMap<u32, usize> = HashMap::new();
    let mut awaited: Vec<(usize, u32)> = Vec::new();
    for pc in 0..code.insts.len() {
        let op = &program.ops[pc];
        let is_move = matches!(code.insts[pc].op, MicroOp::Mov32(_) | MicroOp::Mov64(_) | MicroOp::Pack32To64(_));
        if is_move && op.is_folded() && op.writes.iter().any(several) {
            let found: Vec<_> = op.reads.iter().filter_map(|read| Some((*pieces.get(read)?, *read))).collect();
            if !found.is_empty() {
                awaited.extend(found);
                program.ops[pc].cost = MOVE;
            }
        }
        let op = &program.ops[pc];
        op.writes.iter().for_each(|register| {
            pieces.remove(register);
        });
        let is_load = matches!(op.kind, Kind::Load(Place::Global | Place::Generic | Place::Shared | Place::Local));
        if is_load
            && op.writes.len() > 1
            && op.writes.iter().any(several)
            && let Some(meet) = meet(program, code, pc)
        {
            pieces.extend(op.writes.iter().filter(|register| several(register)).map(|&register| (register, meet)));
        }
    }
    for (meet, register) in awaited {
        let first = program.ops[meet..].iter_mut().find(|op| !op.is_folded());
        if let Some(op) = first.filter(|op| !op.reads.contains(&register)) {
            op.reads.push(register);
        }
    }
}

/// Where the branch leads to that leads around an instruction; nowhere if that has a predicate instead.
fn meet(program: &Program, code: &Code, pc: usize) -> Option<usize> {
    let is_predicated = program.predicated.iter().any(|(&begin, &end)| (begin as usize..end as usize).contains(&pc));
    let around = |at: usize| match code.insts[at].op {
        MicroOp::Branch { target, .. } => Some(target as usize).filter(|&target| target > pc),
        _ => None,
    };
    if is_predicated { None } else { (0..pc).rev().find_map(around) }
}
