//! Code with `if`s in it that the assembler puts in order together.
//!
//! What is between two branches stays there, but for loads that are needed behind an `if` and before another: they are
//! moved to the front, over the branches, with what computes their addresses. A loop with one `if`, and something to
//! load, is unrolled as one without.

use std::collections::HashMap;

use crate::exec::Step;
use crate::timing::program::ifs::If;
use crate::timing::program::{Kind, Op, Program};

/// One past the steps of a piece that begins at `from`, with the `if`s in it, and how many these are.
pub(super) fn end_of_piece(program: &Program, steps: &[Step], from: usize, window: usize) -> (usize, usize) {
    let mut to = super::end_of_piece(program, steps, from, window);
    let mut ifs = 0;
    while let Some(&If { meet, is_passed: true }) = program.ifs.get(&steps[to - 1].pc) {
        let branch = steps[to - 1].pc;
        let arms = steps[to..].iter().take_while(|step| branch < step.pc && step.pc < meet).count();
        let behind = to + arms;
        if behind - from >= window || steps.get(behind).is_none_or(|step| step.pc != meet) {
            break;
        }
        to = super::end_of_piece(program, steps, behind, window - (behind - from));
        ifs += 1;
    }
    (to, ifs)
}

/// Whether a piece loads from global memory outside of what is under a condition: only then is a loop with an `if`
/// unrolled.
pub(super) fn loads(program: &Program, steps: &[Step]) -> bool {
    outside(program, steps).any(|pc| program.ops[pc as usize].loads_global())
}

/// Instructions that are under no condition.
pub(super) fn unconditional(program: &Program, steps: &[Step]) -> usize {
    outside(program, steps).count()
}

fn outside(program: &Program, steps: &[Step]) -> impl Iterator<Item = u32> {
    let pcs: Vec<u32> = steps.iter().map(|step| step.pc).collect();
    let stages = stages(program, &pcs);
    pcs.into_iter().zip(stages).filter(|(_, stage)| stage.is_multiple_of(2)).map(|(pc, _)| pc)
}

/// Which part of a piece each of its instructions is in: 0 up to the first branch and with it, 1 in the arms behind
/// that, 2 up to the next, and so on.
pub(super) fn stages(program: &Program, pcs: &[u32]) -> Vec<usize> {
    let mut stages = Vec::with_capacity(pcs.len());
    let mut stage = 0;
    let mut meets: Option<u32> = None;
    for (at, pc) in pcs.iter().enumerate() {
        if meets == Some(*pc) {
            stage += 1;
            meets = None;
        }
        stages.push(stage);
        // The last branch of a piece ends it.
        if let Some(&If { meet, .. }) = program.ifs.get(pc).filter(|_| meets.is_none() && at + 1 < pcs.len()) {
            stage += 1;
            meets = Some(meet);
        }
    }
    stages
}

/// The earliest stage in which each instruction of a piece can stand. It is its own, but for loads that another `if`
/// follows, and for what their addresses come of. A load to whose address a constant is added moves to the front, and
/// one whose address takes more instructions over one `if`. `ends_in_if`: whether one ends the piece. `needless`: what
/// only one of several iterations needs.
pub(super) fn earliest(
    ops: &[&Op],
    stages: &[usize],
    ends_in_if: bool,
    needless: impl Fn(usize) -> bool,
) -> Vec<usize> {
    let mut earliest = stages.to_vec();
    let last = stages.last().copied().unwrap_or_default() + usize::from(ends_in_if);
    let mut writers: HashMap<u32, usize> = HashMap::new();
    // Of each instruction, who writes what it reads, in this piece.
    let mut from: Vec<Vec<usize>> = Vec::with_capacity(ops.len());
    // Whether it can be moved, and whether that takes instructions.
    let mut moves: Vec<(bool, bool)> = Vec::with_capacity(ops.len());
    for (at, op) in ops.iter().enumerate() {
        let by: Vec<usize> = op.reads.iter().filter_map(|register| writers.get(register).copied()).collect();
        let is_plain = op.kind == Kind::Plain && !op.divides() && !op.reconverges;
        let can = stages[at].is_multiple_of(2) && (is_plain || op.loads_global()) && by.iter().all(|&by| moves[by].0);
        let takes = is_plain && !op.is_folded() && !needless(at) || by.iter().any(|&by| moves[by].1);
        moves.push(if stages[at] == 0 { (true, false) } else { (can, takes) });
        from.push(by);
        writers.extend(op.writes.iter().map(|&register| (register, at)));
    }
    for at in (0..ops.len()).rev() {
        let (can, takes) = moves[at];
        if ops[at].loads_global() && can && stages[at] < last {
            earliest[at] = earliest[at].min(if takes { stages[at].saturating_sub(2) } else { 0 });
        }
        for &by in &from[at] {
            // What stands in front of it.
            if earliest[at] < earliest[by] {
                earliest[by] = earliest[at];
            }
        }
    }
    earliest
}
