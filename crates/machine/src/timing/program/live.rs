//! Which registers hold what is still of use, and how many of the machine's they take.

use smallvec::SmallVec;

use super::divergence::{Lanes, differing};
use super::{Kind, Numbers, Op};
use crate::code::flow::all_successors;
use crate::code::{Code, Operands as _, Place, Role, Rule};

/// What is of use before and behind each instruction, by the registers of the program.
#[derive(Debug, Default)]
pub(crate) struct Live {
    before: Vec<Vec<u64>>,
    after: Vec<Vec<u64>>,
    /// How many machine registers each is.
    widths: Vec<u8>,
}

/// Bits beyond which nothing is said.
const MOST: usize = 1 << 28;

impl Live {
    pub(super) fn new(ops: &[Op], registers: usize, code: &Code, numbers: &Numbers) -> Self {
        let words = registers.div_ceil(64);
        if words * 64 * ops.len() > MOST {
            return Self::default();
        }
        let mut live = Self { before: vec![vec![0; words]; ops.len() + 1], ..Self::default() };
        live.after.clone_from(&live.before);
        for function in code.functions.iter().flatten() {
            live.function(ops, function.start as usize, &all_successors(code, function));
        }
        live.widths = live.widths_of(ops, registers, code, numbers);
        live
    }

    fn function(&mut self, ops: &[Op], start: usize, successors: &[SmallVec<[usize; 2]>]) {
        let count = successors.len();
        let mut predecessors = vec![SmallVec::<[usize; 2]>::new(); count + 1];
        for (at, next) in successors.iter().enumerate() {
            next.iter().for_each(|&next| predecessors[next].push(at));
        }
        let mut pending: Vec<usize> = (0..count).collect();
        let mut queued = vec![true; count];
        while let Some(at) = pending.pop() {
            queued[at] = false;
            let pc = start + at;
            let mut live = vec![0_u64; self.before[pc].len()];
            for &next in successors[at].iter().filter(|&&next| next < count) {
                live.iter_mut().zip(&self.before[start + next]).for_each(|(live, next)| *live |= next);
            }
            self.after[pc].clone_from(&live);
            for &write in &ops[pc].writes {
                live[write as usize / 64] &= !(1 << (write % 64));
            }
            for &read in &ops[pc].reads {
                live[read as usize / 64] |= 1 << (read % 64);
            }
            if live != self.before[pc] {
                self.before[pc] = live;
                for &earlier in &predecessors[at] {
                    if !std::mem::replace(&mut queued[earlier], true) {
                        pending.push(earlier);
                    }
                }
            }
        }
    }

    /// How many machine registers each is.
    fn widths_of(&self, ops: &[Op], registers: usize, code: &Code, numbers: &Numbers) -> Vec<u8> {
        let mut natural = vec![0; registers];
        for (at, inst) in (0..).zip(&code.insts) {
            // The upper half of what was extended is made anew where it is of use, or is zero.
            let most = match inst.op.rule(code) {
                Rule::SignExtended(bits) | Rule::ZeroExtended(bits) => bits.max(32),
                _ => u8::MAX,
            };
            inst.op.operands(code, &mut |role, reg| {
                if role == Role::Write {
                    let natural: &mut u8 = &mut natural[numbers.of(at, reg.slot, reg.bits) as usize];
                    *natural = (*natural).max(reg.bits.min(most) / 32);
                }
            });
        }
        // What is the same for all lanes is in the warp's own registers.
        let differing = differing(ops, registers, |at| of_a_warp(&ops[at]));
        let mut widths = vec![0; registers];
        let takes = |widths: &mut Vec<u8>, write: u32| {
            let register = write as usize;
            let width = if differing[register] { natural[register] } else { 0 };
            std::mem::replace(&mut widths[register], width) != width
        };
        for op in ops.iter().filter(|op| !op.is_folded()) {
            op.writes.iter().for_each(|&write| _ = takes(&mut widths, write));
        }
        // What costs nothing is a constant, an argument of the launch, or another name of what is there: where that
        // ends, the name has its place.
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for (pc, op) in ops.iter().enumerate().filter(|(_, op)| op.is_folded()) {
                let ends = |&read: &u32| widths[read as usize] > 0 && !self.is_live_after(pc as u32, read);
                if op.reads.iter().any(ends) {
                    op.writes.iter().for_each(|&write| changed |= takes(&mut widths, write));
                }
            }
        }
        widths
    }

    /// Registers that take so many, of which none is of use beyond the code.
    #[cfg(test)]
    pub(crate) fn of_widths(count: usize, widths: Vec<u8>) -> Self {
        let none = vec![vec![0; widths.len().div_ceil(64)]; count + 1];
        Self { before: none.clone(), after: none, widths }
    }

    pub(crate) fn is_known(&self) -> bool {
        !self.before.is_empty()
    }

    pub(crate) fn width(&self, register: u32) -> i32 {
        self.widths.get(register as usize).copied().unwrap_or_default().into()
    }

    /// Machine registers in use before an instruction.
    pub(crate) fn before(&self, pc: u32) -> i32 {
        let Some(live) = self.before.get(pc as usize) else { return 0 };
        let set = (0..self.widths.len()).filter(|r| live[r / 64] >> (r % 64) & 1 == 1);
        set.map(|register| self.width(register as u32)).sum()
    }

    pub(crate) fn is_live_after(&self, pc: u32, register: u32) -> bool {
        self.after.get(pc as usize).is_some_and(|live| live[register as usize / 64] >> (register % 64) & 1 == 1)
    }
}

/// The data path of a warp as a whole has no floats, and loads nothing but arguments.
fn of_a_warp(op: &Op) -> Lanes {
    match op.kind {
        Kind::Load(Place::Param) => Lanes::AsOperands,
        Kind::Plain if !op.float && !op.of_a_lane => Lanes::AsOperands,
        _ => Lanes::Differ,
    }
}
