//! Undefined bits in the operations that are executed outside of the interpreter's loop: those of warps among them.

use super::How::{Copied, Derived};
use super::{Flow, Operand, double, flag, word};
use crate::code::{self, Reg, Slot, SlowOp};
use crate::exec::collective::shuffle_source;
use crate::exec::init::shadow::{Mark, width};
use crate::exec::lanes::each;
use fusion_ptx::ast::VoteMode;

impl Flow<'_> {
    /// Results of warp operations are put off: the warp may wait for other lanes before it executes them.
    pub(super) fn slow(&mut self, op: &SlowOp, pending: &mut Vec<(Reg, u32, Box<Mark>)>) {
        let mask = self.mask;
        let mut later = |reg: Option<Reg>, mark: &Mark| {
            if let Some(reg) = reg {
                pending.push((reg, mask, Box::new(mark.clone())));
            }
        };
        let members =
            |flow: &Self, slot: Option<Slot>, lane: usize| slot.map_or(mask, |slot| flow.regs.word(slot)[lane]) & mask;
        match op {
            SlowOp::Shuffle { mode, d, p, a, b, c, mask: slot } => {
                let [a, b, c] = [*a, *b, *c].map(|slot| self.operand(word(slot)));
                let mut moved = self.mark(&[&a, &b, &c], Copied, |_| 0);
                for i in each(mask) {
                    let (source, _) = shuffle_source(*mode, i as u32, b.value[i] as u32, c.value[i] as u32);
                    let here = members(self, *slot, i) >> source & 1 == 1;
                    let source = if here { source as usize & 31 } else { i };
                    let unknown = (b.undefined[i] | c.undefined[i]) & 0x1f1f != 0;
                    moved.undefined[i] = if unknown { u64::MAX } else { a.undefined[source] };
                    moved.derived |= u32::from(unknown || a.derived >> source & 1 == 1) << i;
                }
                let inside =
                    self.mark(&[&b, &c], Derived, |i| u64::from((b.undefined[i] | c.undefined[i]) & 0x1f1f != 0));
                later(*d, &moved);
                later(p.map(flag), &inside);
            }
            SlowOp::Vote { mode, d, p: (p, negated), mask: slot } => {
                let p = self.operand(flag(*p));
                let unknown = each(mask).fold(0, |u, i| u | u32::from(p.undefined[i] != 0) << i);
                let truth = each(mask).fold(0, |t, i| t | u32::from((p.value[i] == 1) != *negated) << i) & !unknown;
                let bits = d.map_or(u64::MAX, width);
                let mark = self.mark(&[&p], Derived, |i| {
                    let group = members(self, *slot, i);
                    let (known, unknown) = (group & !unknown, group & unknown);
                    let decided = match mode {
                        VoteMode::Any => truth & known != 0,
                        VoteMode::All => truth & known != known,
                        VoteMode::Uni => truth & known != 0 && truth & known != known,
                        VoteMode::Ballot => return u64::from(unknown),
                    };
                    if unknown == 0 || decided { 0 } else { 1 & bits }
                });
                // The origin may be that of another lane.
                let origin = p.origin.unwrap_or(mark.origin);
                later(*d, &Mark { origin, ..mark });
            }
            SlowOp::Match { d, p, a, .. } => {
                let a = self.operand(*a);
                let any = each(mask).any(|i| a.undefined[i] != 0);
                let mark = self.mark(&[&a], Derived, |_| if any { u64::MAX } else { 0 });
                later(*d, &mark);
                later(p.map(flag), &mark);
            }
            SlowOp::Redux { d, a, mask: slot, .. } => {
                let a = self.operand(word(*a));
                let mark = self.mark(&[&a], Derived, |i| {
                    let group = members(self, Some(*slot), i);
                    if each(group).any(|l| a.undefined[l] != 0) { u64::MAX } else { 0 }
                });
                later(*d, &mark);
            }
            SlowOp::Bfi { wide, d, a, b, pos, len } => {
                let [x, y, pos, len] = [*a, *b, word(*pos), word(*len)].map(|reg| self.operand(reg));
                let width = if *wide { 64 } else { 32 };
                self.result(*d, &[&x, &y, &pos, &len], Copied, |i| {
                    if pos.undefined[i] | len.undefined[i] != 0 {
                        return u64::MAX;
                    }
                    crate::arith::bits::bfi(x.undefined[i], y.undefined[i], pos.value[i], len.value[i], width)
                });
            }
            SlowOp::Pack { d, parts } => {
                let operands: Vec<(Operand, u8)> = parts.iter().map(|part| (self.operand(*part), part.bits)).collect();
                let refs: Vec<&Operand> = operands.iter().map(|(o, _)| o).collect();
                self.result(*d, &refs, Copied, |i| {
                    let mut shift = 0;
                    operands.iter().fold(0, |u, (o, bits)| {
                        let keep = u64::MAX >> (64 - u32::from((*bits).clamp(1, 64)));
                        let part = (o.undefined[i] & keep).checked_shl(shift).unwrap_or(0);
                        shift += u32::from(*bits);
                        u | part
                    })
                });
            }
            SlowOp::Unpack { parts, part_bits, a } => self.unpack(*a, parts, *part_bits),
            SlowOp::Carry(op) => {
                let mut from = vec![op.a, op.b];
                from.extend(op.c);
                if op.carry_in {
                    from.push(flag(code::CARRY));
                }
                let operands: Vec<Operand> = from.iter().map(|reg| self.operand(*reg)).collect();
                let refs: Vec<&Operand> = operands.iter().collect();
                let mark =
                    self.mark(&refs, Derived, |i| if refs.iter().any(|o| o.undefined[i] != 0) { u64::MAX } else { 0 });
                self.put(op.d, &mark);
                if op.carry_out {
                    self.put(flag(code::CARRY), &mark);
                }
            }
            SlowOp::Lop3Predicate { d, p, or, q: (q, negated) } => {
                let (d, q) = (self.operand(word(*d)), self.operand(flag(*q)));
                self.result(flag(*p), &[&d, &q], Derived, |i| {
                    let known_one = d.value[i] & !d.undefined[i] != 0;
                    let test = d.undefined[i] != 0 && !known_one;
                    let truth = d.value[i] != 0;
                    let other = (q.value[i] == 1) != *negated;
                    let decided = !test && truth == *or || q.undefined[i] == 0 && other == *or;
                    u64::from((test || q.undefined[i] != 0) && !decided)
                });
            }
            SlowOp::SelectSign { test, d, a, b, c } => {
                let (a, b, c) = (self.operand(*a), self.operand(*b), self.operand(*c));
                let chosen = |i: usize| if test(c.value[i]) { &a } else { &b };
                let mut mark = self.mark(&[&c, &a, &b], Copied, |i| match c.undefined[i] {
                    0 => chosen(i).undefined[i],
                    _ => u64::MAX,
                });
                for i in each(mask) {
                    mark.derived |= u32::from(c.undefined[i] != 0) << i;
                }
                self.put(*d, &mark);
            }
            SlowOp::Checked(checked) => self.step(checked.op),
            SlowOp::TestProperty { d, a, .. } => self.whole(flag(*d), &[*a]),
            SlowOp::IsSpace { d, a, .. } => self.whole(flag(*d), &[double(*a)]),
            SlowOp::Exit
            | SlowOp::Return
            | SlowOp::Trap
            | SlowOp::Breakpoint
            | SlowOp::Yield
            | SlowOp::Nothing
            | SlowOp::CopyCommit
            | SlowOp::CopyWait { .. }
            | SlowOp::Fence(_)
            | SlowOp::Unsupported { .. }
            | SlowOp::BranchTable { .. }
            | SlowOp::Call { .. }
            | SlowOp::WarpSync { .. } => {}
            SlowOp::Barrier { d, .. } | SlowOp::ActiveMask { d } => {
                d.iter().for_each(|reg| self.shadow.clear(self.bases, *reg, mask));
            }
            SlowOp::Elect { d, p, .. } => {
                d.iter().for_each(|reg| self.shadow.clear(self.bases, *reg, mask));
                self.shadow.clear(self.bases, flag(*p), mask);
            }
            SlowOp::Atomic(atomic) => {
                atomic.d.iter().flatten().for_each(|reg| self.shadow.clear(self.bases, *reg, mask));
            }
            SlowOp::CopyAsync { .. } => {}
            SlowOp::Read { d, .. } => self.shadow.clear(self.bases, *d, mask),
            SlowOp::FrameAddress { d, .. } => self.shadow.clear(self.bases, double(*d), mask),
        }
    }
}
