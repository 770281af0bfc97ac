//! Where the lanes of a warp may have parted, as the assembler finds out (divergence analysis).
//!
//! Read in machine code of compute capability 9.0 that NVRTC 13.0 makes.

use fusion_ptx::ast;

use super::{Kind, Op, Program};
use crate::code::flow::Flow;
use crate::code::{Code, Function, Place, SlowOp};

/// What an instruction writes, seen from lane to lane.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lanes {
    Differ,
    /// Differ where its operands do.
    AsOperands,
    Agree,
}

/// Which registers may differ from lane to lane, if that is what each instruction does. What lanes have because they
/// came another way is not looked at.
pub(super) fn differing(ops: &[Op], registers: usize, of: impl Fn(usize) -> Lanes) -> Vec<bool> {
    let of: Vec<Lanes> = (0..ops.len()).map(of).collect();
    let mut differing = vec![false; registers];
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for (op, lanes) in ops.iter().zip(&of) {
            let differ = match lanes {
                Lanes::Differ => true,
                Lanes::AsOperands => op.reads.iter().any(|&read| differing[read as usize]),
                Lanes::Agree => false,
            };
            for &write in op.writes.iter().filter(|_| differ) {
                changed |= !std::mem::replace(&mut differing[write as usize], true);
            }
        }
    }
    differing
}

/// Marks what lanes do together (`shfl.sync` and its like) where they may have parted: the assembler brings them
/// together before it, with `BRA.DIV` or `WARPSYNC`, and moves nothing over that.
pub(super) fn mark(program: &mut Program, code: &Code) {
    if !(0..program.ops.len()).any(|at| collective(code, at).is_some()) {
        return;
    }
    let ops = &program.ops;
    let differing = differing(ops, program.registers, |at| lanes(ops, code, at));
    let mut found = Vec::new();
    for function in code.functions.iter().flatten() {
        let start = function.start as usize;
        let differs = |at: usize| ops[start + at].reads.iter().any(|&read| differing[read as usize]);
        found.extend(reconverging(code, function, differs).into_iter().map(|at| start + at));
    }
    for at in found {
        program.ops[at].reconverges = true;
        program.ops[at].cost.issues += 2.0;
    }
}

fn lanes(ops: &[Op], code: &Code, at: usize) -> Lanes {
    match ops[at].kind {
        Kind::Plain if ops[at].of_a_lane => Lanes::Differ,
        Kind::Shuffle => match collective(code, at) {
            Some(ast::Collective::Vote { .. } | ast::Collective::Redux(_) | ast::Collective::Activemask) => {
                Lanes::Agree
            }
            _ => Lanes::Differ,
        },
        Kind::Atomic(_) | Kind::MbarrierArrive { .. } | Kind::MbarrierWait => Lanes::Differ,
        Kind::Load(Place::Local | Place::Frame | Place::Generic) => Lanes::Differ,
        _ => Lanes::AsOperands,
    }
}

fn collective(code: &Code, at: usize) -> Option<ast::Collective> {
    match code.slow_at(at as u32)? {
        SlowOp::Collective(collective) => Some(collective.op),
        _ => None,
    }
}

/// The instructions of a function, counted from its first, before which lanes are brought together.
fn reconverging(code: &Code, function: &Function, differs: impl Fn(usize) -> bool) -> Vec<usize> {
    let start = function.start as usize;
    let count = (function.end - function.start) as usize;
    let flow = Flow::new(code, function);
    let leaves = |at: usize| at >= count || code.leaves((start + at) as u32);
    let (mut parted, mut parts) = (vec![false; count], vec![false; count]);
    for at in (0..count).filter(|&at| flow.successors[at].len() > 1 && differs(at)) {
        let region = flow.decided_by(at, |_| false);
        // Lanes that leave the kernel do not part from the others.
        if flow.successors[at].iter().any(|&next| leaves(next)) && !region.contains(&at) {
            continue;
        }
        parts[at] = true;
        region.into_iter().for_each(|at| parted[at] = true);
    }
    if !parted.contains(&true) {
        return Vec::new();
    }
    let gathers = |at: usize| {
        let collective = collective(code, start + at);
        collective.is_some_and(|op| !matches!(op, ast::Collective::Activemask)) || is_barrier(code, start + at)
    };
    // Whether all lanes are there, on all ways to an instruction.
    let mut together = vec![true; count];
    let mut pending: Vec<usize> = (0..count).filter(|&at| parts[at]).collect();
    while let Some(at) = pending.pop() {
        if !parts[at] && gathers(at) {
            continue;
        }
        for &next in flow.successors[at].iter().filter(|&&next| next < count) {
            if std::mem::replace(&mut together[next], false) {
                pending.push(next);
            }
        }
    }
    (0..count).filter(|&at| parted[at] && !together[at] && gathers(at) && !is_barrier(code, start + at)).collect()
}

fn is_barrier(code: &Code, at: usize) -> bool {
    matches!(code.slow_at(at as u32), Some(SlowOp::Barrier { .. }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lower::{Addresses, lower};
    use crate::profile::Profile;
    use crate::timing::{Model, Rates};

    const PTX: &str = include_str!("../../../tests/ptx/divergence.ptx");

    /// How many instructions there are of a kernel before which lanes are brought together.
    fn reconverging(kernel: &str) -> usize {
        let module = fusion_ptx::parse(PTX).module;
        let entry = module.functions.iter().position(|function| function.name == kernel).expect("it is in the file");
        let addresses = Addresses { globals: vec![None; module.variables.len()], local_bytes: 0 };
        let code = lower(&module, ast::FunctionId(entry as u32), &addresses);
        let text = |pc: u32| {
            let span = code.origins[pc as usize].span;
            PTX.get(span.start as usize..span.end as usize).unwrap_or_default().to_string()
        };
        let profile = Profile::default();
        let program = Program::new(&code, &profile.units, &Model::new(Rates::of(&profile), None), text);
        program.ops.iter().filter(|op| op.reconverges).count()
    }

    #[test]
    fn lanes_are_brought_together_where_machine_code_does() {
        // By `BRA.DIV`, and of votes by `WARPSYNC`: once in each iteration of what NVVM has made one.
        assert_eq!(reconverging("rows_by_warps"), 1);
        assert_eq!(reconverging("rows_by_warps_in_y"), 1);
        assert_eq!(reconverging("first_warps"), 1);
        assert_eq!(reconverging("work_before_the_return"), 1);
        assert_eq!(reconverging("counted_by_votes"), 1);
        for kernel in [
            "a_row_a_warp",
            "rows_by_blocks",
            "as_many_as_loaded",
            "as_many_as_shared",
            "as_long_as_any",
            "an_if_before",
        ] {
            assert_eq!(reconverging(kernel), 0, "{kernel}");
        }
    }
}
