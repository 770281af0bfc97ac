//! Liveness of registers: what may be read before it is written, and how many are live at once.

use fusion_ptx::ast::{Function, Operand, RegId, ScalarType};

use super::blocks::Block;

/// What the analysis found.
pub(crate) struct Liveness {
    /// Registers that may be read before they are written.
    pub(crate) at_entry: Vec<RegId>,
    /// The largest number of 32-bit registers live at once.
    pub(crate) peak: u32,
}

/// Beyond this many bits of state the analysis gives up and calls every register live.
const LIMIT: usize = 1 << 31;

pub(crate) fn liveness(function: &Function, blocks: &[Block]) -> Liveness {
    let count = function.registers.len();
    let words = count.div_ceil(64);
    if words.saturating_mul(64).saturating_mul(blocks.len()) > LIMIT {
        return Liveness { at_entry: (0..count as u32).map(RegId).collect(), peak: 255 };
    }
    let mut live_in = vec![vec![0u64; words]; blocks.len()];
    let mut pending: Vec<usize> = (0..blocks.len()).collect();
    let mut queued = vec![true; blocks.len()];
    let mut predecessors = vec![Vec::new(); blocks.len()];
    for (b, block) in blocks.iter().enumerate() {
        for &s in &block.successors {
            predecessors[s].push(b);
        }
    }
    let mut peak = 0;
    while let Some(b) = pending.pop() {
        queued[b] = false;
        let (live, most) = transfer(function, &blocks[b], &live_in, words);
        peak = peak.max(most);
        if live != live_in[b] {
            live_in[b] = live;
            for &p in &predecessors[b] {
                if !std::mem::replace(&mut queued[p], true) {
                    pending.push(p);
                }
            }
        }
    }
    let at_entry = match live_in.first() {
        Some(live) => (0..count).filter(|r| live[r / 64] >> (r % 64) & 1 == 1).map(|r| RegId(r as u32)).collect(),
        None => Vec::new(),
    };
    Liveness { at_entry, peak }
}

/// What is live at the start of a block, and the most that is live inside.
fn transfer(function: &Function, block: &Block, live_in: &[Vec<u64>], words: usize) -> (Vec<u64>, u32) {
    let mut live = vec![0u64; words];
    for &s in &block.successors {
        for (l, i) in live.iter_mut().zip(&live_in[s]) {
            *l |= i;
        }
    }
    let weight = |r: usize| match function.registers.get(r).map(|r| r.ty) {
        Some(ScalarType::Pred) | None => 0,
        Some(ty) => ty.bits().div_ceil(32),
    };
    let mut now: u32 = (0..words * 64).filter(|r| live[r / 64] >> (r % 64) & 1 == 1).map(weight).sum();
    let mut most = now;
    for instruction in function.body[block.start..block.end].iter().rev() {
        let mut reads = Vec::new();
        let mut writes = Vec::new();
        let mut read = |operand: &Operand| {
            if let Operand::Reg(r) | Operand::Not(r) = operand {
                reads.push(r.index());
            }
        };
        instruction.op.operands(&mut read, &mut |r| writes.push(r.index()));
        if let Some(guard) = &instruction.guard {
            reads.push(guard.reg.index());
        } else {
            for r in writes {
                if r < words * 64 && live[r / 64] >> (r % 64) & 1 == 1 {
                    live[r / 64] &= !(1 << (r % 64));
                    now -= weight(r);
                }
            }
        }
        for r in reads {
            if r < words * 64 && live[r / 64] >> (r % 64) & 1 == 0 {
                live[r / 64] |= 1 << (r % 64);
                now += weight(r);
            }
        }
        most = most.max(now);
    }
    (live, most)
}
