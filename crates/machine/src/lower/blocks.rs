//! Basic blocks, and the order in which they are laid out.
//!
//! The scheduler of a warp always runs its lanes with the lowest program counter. For that to bring
//! diverged lanes together again, a join must stand after everything that flows into it, and the way
//! out of a loop after the loop's body. This is Bourdoncle's weak topological order ("Efficient
//! chaotic iteration strategies with widenings", 1993): strongly connected components in
//! topological order, each laid out in one piece, its head first and its inside ordered likewise.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use fusion_ptx::ast::{Function, Instruction, Op};

/// A run of instructions that is entered at its start only.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// Half-open range of the body.
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) successors: Vec<usize>,
    /// The block that control falls into at the end; the body's end is `None` as is an instruction that never goes on.
    pub(crate) next: Option<usize>,
}

/// Splits a body. The first block is the entry; the order is the source's.
pub(crate) fn split(function: &Function) -> Vec<Block> {
    let body = &function.body;
    let mut starts = vec![false; body.len() + 1];
    starts[0] = true;
    for label in &function.labels {
        if let Some(s) = starts.get_mut(label.target as usize) {
            *s = true;
        }
    }
    for (i, instruction) in body.iter().enumerate() {
        if ends_block(instruction) {
            starts[i + 1] = true;
        }
    }
    let mut block_of = vec![None; body.len() + 1];
    let mut blocks: Vec<Block> = Vec::new();
    for i in 0..body.len() {
        if starts[i] {
            blocks.push(Block { start: i, end: i + 1, successors: Vec::new(), next: None });
        } else if let Some(last) = blocks.last_mut() {
            last.end = i + 1;
        }
        if starts[i] {
            block_of[i] = Some(blocks.len() - 1);
        }
    }
    let target = |label: fusion_ptx::ast::LabelId| {
        function.labels.get(label.index()).and_then(|l| block_of.get(l.target as usize).copied().flatten())
    };
    let count = blocks.len();
    for (b, block) in blocks.iter_mut().enumerate() {
        let Some(last) = body.get(block.end - 1) else { continue };
        match &last.op {
            Op::Bra { target: label, .. } => block.successors.extend(target(*label)),
            Op::BrxIdx { targets, .. } => block.successors.extend(targets.iter().filter_map(|l| target(*l))),
            _ => {}
        }
        if (last.guard.is_some() || !leaves(&last.op)) && b + 1 < count {
            block.next = Some(b + 1);
            block.successors.push(b + 1);
        }
        block.successors.sort_unstable();
        block.successors.dedup();
    }
    blocks
}

/// Whether control never reaches the instruction behind this one, if unguarded.
pub(crate) fn leaves(op: &Op) -> bool {
    matches!(op, Op::Bra { .. } | Op::BrxIdx { .. } | Op::Ret | Op::Exit | Op::Trap)
}

fn ends_block(instruction: &Instruction) -> bool {
    leaves(&instruction.op)
}

/// The layout of the blocks that the entry reaches.
pub(crate) fn order(blocks: &[Block]) -> Vec<usize> {
    if blocks.is_empty() {
        return Vec::new();
    }
    let mut reached = vec![false; blocks.len()];
    let mut stack = vec![0];
    while let Some(b) = stack.pop() {
        if !std::mem::replace(&mut reached[b], true) {
            stack.extend(&blocks[b].successors);
        }
    }
    let nodes: Vec<usize> = (0..blocks.len()).filter(|&b| reached[b]).collect();
    let mut layout = Layout { blocks, scope: vec![0; blocks.len()], scopes: 0, out: Vec::new() };
    layout.arrange(nodes, None);
    layout.out
}

struct Layout<'a> {
    blocks: &'a [Block],
    /// The innermost piece of the graph that a block is being arranged in.
    scope: Vec<u32>,
    scopes: u32,
    out: Vec<usize>,
}

/// What is left to lay out: a block, or the inside of a component with its head.
enum Piece {
    Block(usize),
    Inside(Vec<usize>, usize),
}

/// Loops inside of one another that are told apart. Each one costs a look at everything inside of it, and a body of
/// jumps at random nests them as deep as it is long. No order of the blocks is wrong: the lanes only meet later.
const MAX_NESTING: u32 = 48;

impl Layout<'_> {
    /// Lays out `nodes`, ignoring edges into `head` and edges that leave them.
    fn arrange(&mut self, nodes: Vec<usize>, head: Option<usize>) {
        // An explicit stack: a hostile body may nest loops as deep as it is long.
        let nested = |pieces: Vec<Piece>, depth: u32| pieces.into_iter().rev().map(move |piece| (piece, depth));
        let mut work: Vec<(Piece, u32)> = nested(self.pieces(nodes, head), 1).collect();
        while let Some((piece, depth)) = work.pop() {
            match piece {
                Piece::Block(b) => self.out.push(b),
                Piece::Inside(mut nodes, head) if depth > MAX_NESTING => {
                    nodes.sort_unstable_by_key(|&n| (n != head, n));
                    self.out.append(&mut nodes);
                }
                Piece::Inside(nodes, head) => {
                    let inner = self.pieces(nodes, Some(head));
                    work.extend(nested(inner, depth + 1));
                }
            }
        }
    }

    /// The components of `nodes` in topological order, the source's order where that leaves a choice.
    fn pieces(&mut self, nodes: Vec<usize>, head: Option<usize>) -> Vec<Piece> {
        self.scopes += 1;
        let scope = self.scopes;
        for &n in &nodes {
            self.scope[n] = scope;
        }
        let components = self.components(&nodes, head);
        let mut component_of = std::collections::HashMap::new();
        for (c, members) in components.iter().enumerate() {
            for &n in members {
                component_of.insert(n, c);
            }
        }
        let mut incoming = vec![0u32; components.len()];
        let mut outgoing = vec![Vec::new(); components.len()];
        let mut entered = vec![None; components.len()];
        for &n in &nodes {
            for &s in &self.blocks[n].successors {
                if self.scope[s] == scope && Some(s) != head && component_of[&s] != component_of[&n] {
                    let c = component_of[&s];
                    incoming[c] += 1;
                    outgoing[component_of[&n]].push(c);
                    entered[c] = Some(entered[c].map_or(s, |e: usize| e.min(s)));
                }
            }
        }
        let first = |c: usize| components[c].iter().copied().min().unwrap_or(0);
        let mut ready: BinaryHeap<Reverse<(usize, usize)>> =
            (0..components.len()).filter(|&c| incoming[c] == 0).map(|c| Reverse((first(c), c))).collect();
        let mut pieces = Vec::with_capacity(components.len());
        while let Some(Reverse((lowest, c))) = ready.pop() {
            pieces.push(match components[c].as_slice() {
                [only] => Piece::Block(*only),
                members => Piece::Inside(members.to_vec(), entered[c].unwrap_or(lowest)),
            });
            for &next in &outgoing[c] {
                incoming[next] -= 1;
                if incoming[next] == 0 {
                    ready.push(Reverse((first(next), next)));
                }
            }
        }
        pieces
    }

    /// Tarjan's strongly connected components, without recursion.
    fn components(&self, nodes: &[usize], head: Option<usize>) -> Vec<Vec<usize>> {
        const UNSEEN: u32 = u32::MAX;
        let Some(&first) = nodes.first() else { return Vec::new() };
        let scope = self.scope[first];
        let place: std::collections::HashMap<usize, usize> = nodes.iter().enumerate().map(|(i, &n)| (n, i)).collect();
        let mut index = vec![UNSEEN; nodes.len()];
        let mut low = vec![0; nodes.len()];
        let mut on_stack = vec![false; nodes.len()];
        let mut stack = Vec::new();
        let mut count = 0;
        let mut found = Vec::new();
        for root in 0..nodes.len() {
            if index[root] != UNSEEN {
                continue;
            }
            let mut calls = vec![(root, 0)];
            while let Some(&mut (v, ref mut edge)) = calls.last_mut() {
                if *edge == 0 && index[v] == UNSEEN {
                    index[v] = count;
                    low[v] = count;
                    count += 1;
                    stack.push(v);
                    on_stack[v] = true;
                }
                let successors = &self.blocks[nodes[v]].successors;
                if let Some(&s) = successors.get(*edge) {
                    *edge += 1;
                    if self.scope[s] != scope || Some(s) == head {
                        continue;
                    }
                    let w = place[&s];
                    if index[w] == UNSEEN {
                        calls.push((w, 0));
                    } else if on_stack[w] {
                        low[v] = low[v].min(index[w]);
                    }
                    continue;
                }
                calls.pop();
                if let Some(&(parent, _)) = calls.last() {
                    low[parent] = low[parent].min(low[v]);
                }
                if low[v] == index[v] {
                    let mut members = Vec::new();
                    while let Some(w) = stack.pop() {
                        on_stack[w] = false;
                        members.push(nodes[w]);
                        if w == v {
                            break;
                        }
                    }
                    found.push(members);
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A graph by its edges; the numbers are the source's order.
    #[track_caller]
    fn check(edges: &[(usize, usize)], expect: &[usize]) {
        let count = 1 + edges.iter().map(|&(a, b)| a.max(b)).max().unwrap_or(0);
        let successors = |n: usize| edges.iter().filter(|(a, _)| *a == n).map(|&(_, b)| b).collect();
        let block = |n| Block { start: n, end: n + 1, successors: successors(n), next: None };
        let blocks: Vec<Block> = (0..count).map(block).collect();
        assert_eq!(order(&blocks), expect);
    }

    #[test]
    fn a_join_stands_behind_both_arms() {
        check(&[(0, 1), (0, 2), (1, 3), (2, 3)], &[0, 1, 2, 3]);
        // The join comes first in the source.
        check(&[(0, 2), (0, 3), (2, 1), (3, 1)], &[0, 2, 3, 1]);
    }

    #[test]
    fn the_way_out_of_a_loop_stands_behind_its_body() {
        check(&[(0, 1), (1, 2), (1, 3), (3, 1)], &[0, 1, 3, 2]);
        // Two loops, one in the other, with a break from the inner to behind the outer.
        check(&[(0, 1), (1, 2), (1, 5), (2, 3), (2, 4), (3, 2), (3, 5), (4, 1)], &[0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn what_nothing_leads_to_is_left_out() {
        check(&[(0, 2), (1, 2)], &[0, 2]);
    }

    #[test]
    fn a_loop_with_two_entries_is_laid_out_all_the_same() {
        check(&[(0, 1), (0, 2), (1, 2), (2, 1), (1, 3)], &[0, 1, 2, 3]);
    }

    /// The fuzzer's: thousands of loops, each around the next, took minutes.
    #[test]
    fn loops_nested_without_end_are_laid_out_once_each() {
        let count = 5000;
        let forth = (0..count - 1).map(|n| (n, n + 1));
        let back = (0..count).map(|n| (count - 1, n));
        let mut successors = vec![Vec::new(); count];
        forth.chain(back).for_each(|(a, b)| successors[a].push(b));
        let mut blocks: Vec<Block> = Vec::new();
        for (n, successors) in successors.into_iter().enumerate() {
            blocks.push(Block { start: n, end: n + 1, successors, next: None });
        }
        let mut order = order(&blocks);
        order.sort_unstable();
        assert_eq!(order, (0..count).collect::<Vec<_>>());
    }
}
