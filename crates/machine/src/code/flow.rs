//! Where control goes in a function, and where the sides of a branch come together again.

use smallvec::{SmallVec, smallvec};

use super::{Code, Function, MicroOp, SlowOp, TRUE};

/// Instructions are counted from the function's first; one past the last stands for its end.
pub(crate) struct Flow {
    pub(crate) successors: Vec<SmallVec<[usize; 2]>>,
    /// Where all ways from an instruction meet first (its immediate post-dominator), if they do.
    joins: Vec<Option<usize>>,
}

impl Flow {
    pub(crate) fn new(code: &Code, function: &Function) -> Self {
        let successors = all_successors(code, function);
        let joins = joins(&successors);
        Self { successors, joins }
    }

    /// Where the sides of a branch meet.
    pub(crate) fn join(&self, branch: usize) -> Option<usize> {
        self.joins[branch]
    }

    /// What is executed, or not, as a branch decides: all behind it until its sides meet, or until another decides.
    pub(crate) fn decided_by(&self, branch: usize, another: impl Fn(usize) -> bool) -> Vec<usize> {
        let join = self.joins[branch];
        let mut found = Vec::new();
        let mut seen = vec![false; self.successors.len()];
        let mut stack = self.successors[branch].to_vec();
        while let Some(at) = stack.pop() {
            if Some(at) == join || at >= seen.len() || std::mem::replace(&mut seen[at], true) {
                continue;
            }
            found.push(at);
            if !another(at) {
                stack.extend(&self.successors[at]);
            }
        }
        found
    }
}

/// Where control goes from each instruction of a function, counted as in [`Flow`].
pub(crate) fn all_successors(code: &Code, function: &Function) -> Vec<SmallVec<[usize; 2]>> {
    (function.start..function.end).map(|pc| successors(code, function, pc)).collect()
}

fn successors(code: &Code, function: &Function, pc: u32) -> SmallVec<[usize; 2]> {
    let end = (function.end - function.start) as usize;
    let of = |pc: u32| pc.checked_sub(function.start).map_or(end, |at| (at as usize).min(end));
    let next = of(pc + 1);
    let Some(inst) = code.insts.get(pc as usize) else { return smallvec![end] };
    let slow = match inst.op {
        MicroOp::Jump(target) => return smallvec![of(target)],
        MicroOp::Branch { target, .. } => return smallvec![of(target), next],
        MicroOp::Slow(index) => code.slow.get(index as usize),
        _ => None,
    };
    match slow {
        Some(SlowOp::BranchTable { targets, .. }) => targets.iter().map(|&target| of(target)).collect(),
        Some(SlowOp::Exit | SlowOp::Return) if inst.guard == TRUE => smallvec![end],
        Some(SlowOp::Exit | SlowOp::Return) => smallvec![end, next],
        _ => smallvec![next],
    }
}

/// Immediate post-dominators, as Cooper, Harvey and Kennedy find dominators. What never ends has none.
fn joins(successors: &[SmallVec<[usize; 2]>]) -> Vec<Option<usize>> {
    let end = successors.len();
    let mut predecessors = vec![SmallVec::<[usize; 2]>::new(); end + 1];
    for (at, next) in successors.iter().enumerate() {
        for &next in next {
            predecessors[next].push(at);
        }
    }
    let mut order = Vec::new();
    let mut rank = vec![0; end + 1];
    let mut seen = vec![false; end + 1];
    let mut stack = vec![(end, 0)];
    seen[end] = true;
    while let Some((at, tried)) = stack.last_mut() {
        if let Some(&before) = predecessors[*at].get(*tried) {
            *tried += 1;
            if !std::mem::replace(&mut seen[before], true) {
                stack.push((before, 0));
            }
        } else {
            rank[*at] = order.len();
            order.push(*at);
            stack.pop();
        }
    }
    let mut joins = vec![None; end + 1];
    joins[end] = Some(end);
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for &at in order.iter().rev().skip(1) {
            let known = successors[at].iter().copied().filter(|&next| joins[next].is_some());
            let join = known.reduce(|one, other| meet(&joins, &rank, one, other));
            changed |= joins[at] != join;
            joins[at] = join;
        }
    }
    joins
}

fn meet(joins: &[Option<usize>], rank: &[usize], mut one: usize, mut other: usize) -> usize {
    while one != other {
        let lower = if rank[one] < rank[other] { &mut one } else { &mut other };
        // The end has the highest rank, and everything that is asked for comes to it.
        *lower = joins[*lower].unwrap_or(joins.len() - 1);
    }
    one
}
