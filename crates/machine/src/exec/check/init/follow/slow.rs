//! Undefined bits in the operations that have a rule of their own: those of warps among them.

use super::How::{Copied, Derived};
use super::{Flow, Operand};
use crate::arith::shuffle_source;
use crate::code::{Collective, Reg, SlowOp, flag, word};
use crate::exec::check::init::Pending;
use crate::exec::check::init::shadow::{Mark, width};
use crate::exec::state::lanes::each;
use fusion_ptx::ast::{self, VoteMode};

impl Flow<'_> {
    pub(super) fn special(&mut self, op: &SlowOp, pending: &mut Pending) {
        let mask = self.mask;
        match op {
            SlowOp::Collective(collective) => self.collective(collective, pending),
            SlowOp::Product(product) => self.product(product, pending),
            SlowOp::Wgmma(product) => self.warpgroup_product(product, pending),
            SlowOp::MoveMatrix { d, a } => self.moved_matrix(*d, *a, pending),
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
            _ => debug_assert!(false, "the table calls it special"),
        }
    }

    /// What lanes are told by others. The results are put off.
    fn collective(&mut self, op: &Collective, pending: &mut Pending) {
        let mask = self.mask;
        let mut later = |reg: Option<Reg>, mark: &Mark| {
            if let Some(reg) = reg {
                pending.push((reg, mask, Box::new(mark.clone())));
            }
        };
        let members = |flow: &Self, lane: usize| op.mask.map_or(mask, |slot| flow.regs.word(slot)[lane]) & mask;
        let sources: Vec<Operand> = op.sources.iter().map(|reg| self.operand(*reg)).collect();
        match (op.op, sources.as_slice()) {
            (ast::Collective::Sync | ast::Collective::Elect | ast::Collective::Activemask, _) => {
                let defined = self.mark(&[], Copied, |_| 0);
                later(op.d, &defined);
                later(op.p.map(flag), &defined);
            }
            (ast::Collective::Shuffle(mode), [a, b, c]) => {
                let mut moved = self.mark(&[a, b, c], Copied, |_| 0);
                for i in each(mask) {
                    let (source, _) = shuffle_source(mode, i as u32, b.value[i] as u32, c.value[i] as u32);
                    let here = members(self, i) >> source & 1 == 1;
                    let source = if here { source as usize & 31 } else { i };
                    let unknown = (b.undefined[i] | c.undefined[i]) & 0x1f1f != 0;
                    moved.undefined[i] = if unknown { u64::MAX } else { a.undefined[source] };
                    moved.derived |= u32::from(unknown || a.derived >> source & 1 == 1) << i;
                }
                let inside =
                    self.mark(&[b, c], Derived, |i| u64::from((b.undefined[i] | c.undefined[i]) & 0x1f1f != 0));
                later(op.d, &moved);
                later(op.p.map(flag), &inside);
            }
            (ast::Collective::Vote { mode, negated }, [p]) => {
                let unknown = each(mask).fold(0, |u, i| u | u32::from(p.undefined[i] != 0) << i);
                let truth = each(mask).fold(0, |t, i| t | u32::from((p.value[i] == 1) != negated) << i) & !unknown;
                let bits = op.d.map_or(u64::MAX, width);
                let mark = self.mark(&[p], Derived, |i| {
                    let group = members(self, i);
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
                later(op.d, &Mark { origin, ..mark });
            }
            // Whatever a lane is told depends on all that the lanes of its mask say.
            (_, sources) => {
                let undefined = |lane: usize| sources.iter().any(|said| said.undefined[lane] != 0);
                let from: Vec<&Operand> = sources.iter().collect();
                let mark =
                    self.mark(&from, Derived, |i| if each(members(self, i)).any(undefined) { u64::MAX } else { 0 });
                later(op.d, &mark);
                later(op.p.map(flag), &mark);
            }
        }
    }
}
