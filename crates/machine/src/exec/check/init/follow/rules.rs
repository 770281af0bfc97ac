//! How the undefined bits of a result come from those of its operands, by kind of operation.

use super::How::{Copied, Derived};
use super::{Flow, How, Operand, flag};
use crate::code::{AND, Comparison, OR, Reg, Spread};
use crate::exec::check::init::bits::{fields, logic, upwards};
use crate::exec::check::init::shadow::{Mark, width};
use crate::exec::state::lanes::each;
use fusion_ptx::ast::BoolOp;

impl Flow<'_> {
    pub(super) fn operand(&self, reg: Reg) -> Operand {
        let value = self.regs.get(reg);
        match self.shadow.get(self.bases, reg) {
            Some(mark) => Operand {
                value,
                undefined: mark.undefined,
                derived: mark.derived,
                origin: (mark.lanes() & self.mask != 0).then_some(mark.origin),
            },
            None => Operand { value, undefined: [0; 32], derived: 0, origin: None },
        }
    }

    /// The mark of a result whose undefined bits `f` tells for each lane.
    pub(super) fn mark(&self, from: &[&Operand], how: How, f: impl Fn(usize) -> u64) -> Mark {
        let origin = from.iter().find_map(|o| o.origin).unwrap_or_default();
        let mut mark = Mark { undefined: [0; 32], derived: 0, origin };
        for lane in each(self.mask) {
            mark.undefined[lane] = f(lane);
            let derived = how == Derived || from.iter().any(|o| o.undefined[lane] != 0 && o.derived >> lane & 1 == 1);
            mark.derived |= u32::from(derived && mark.undefined[lane] != 0) << lane;
        }
        mark
    }

    pub(super) fn put(&mut self, d: Reg, mark: &Mark) {
        self.shadow.put(self.bases, d, self.mask, mark);
    }

    pub(super) fn result(&mut self, d: Reg, from: &[&Operand], how: How, f: impl Fn(usize) -> u64) {
        let mark = self.mark(from, how, f);
        self.put(d, &mark);
    }

    /// Any undefined bit makes all of the results undefined.
    pub(super) fn whole(&mut self, to: &[Reg], from: &[Reg]) {
        let operands: Vec<Operand> = from.iter().map(|reg| self.operand(*reg)).collect();
        let from: Vec<&Operand> = operands.iter().collect();
        let mark = self.mark(&from, Derived, |i| if from.iter().any(|o| o.undefined[i] != 0) { u64::MAX } else { 0 });
        to.iter().for_each(|d| self.put(*d, &mark));
    }

    /// Sums, and products of the first two whose other operand is not known to be zero.
    pub(super) fn arithmetic(&mut self, d: Reg, from: &[Reg], product: bool) {
        let operands: Vec<Operand> = from.iter().map(|reg| self.operand(*reg)).collect();
        let zero = |o: &Operand, i: usize| o.undefined[i] == 0 && o.value[i] == 0;
        let from: Vec<&Operand> = operands.iter().collect();
        let (factors, addends) = operands.split_at(if product { 2.min(operands.len()) } else { 0 });
        let union = |operands: &[Operand], i: usize| operands.iter().fold(0, |u, o| u | o.undefined[i]);
        self.result(d, &from, Derived, |i| {
            let known = factors.iter().any(|factor| zero(factor, i));
            upwards(if known { 0 } else { union(factors, i) } | union(addends, i))
        });
    }

    /// Bitwise operations. Bits put side by side are copied, bits that meet are computed.
    pub(super) fn logic(&mut self, d: Reg, lut: u8, from: &[Reg]) {
        let known = |reg: Option<&Reg>| match reg {
            Some(reg) => self.operand(*reg),
            None => Operand { value: [0; 32], undefined: [0; 32], derived: 0, origin: None },
        };
        let [a, b, c] = [0, 1, 2].map(|n| known(from.get(n)));
        let mut mark = self.mark(&[&a, &b, &c], Copied, |i| {
            logic(lut, [a.value[i], b.value[i], c.value[i]], [a.undefined[i], b.undefined[i], c.undefined[i]])
        });
        let computes = !matches!(lut, AND | OR);
        for i in each(self.mask) {
            let (x, y, z) = (a.undefined[i], b.undefined[i], c.undefined[i]);
            let meet = x & y | y & z | x & z;
            if mark.undefined[i] & meet != 0 || computes && from.len() < 3 && mark.undefined[i] != 0 {
                mark.derived |= 1 << i;
            }
        }
        self.put(d, &mark);
    }

    /// Shifts by whole bytes move; others multiply or divide.
    pub(super) fn shift(&mut self, d: Reg, a: Reg, b: Reg, f: impl Fn(u64, u64) -> u64) {
        let (a, b) = (self.operand(a), self.operand(b));
        let mut mark = self.mark(&[&a, &b], Copied, |i| match b.undefined[i] {
            0 => f(a.undefined[i], b.value[i]),
            _ => u64::MAX,
        });
        for i in each(self.mask) {
            if mark.undefined[i] != 0 && (b.undefined[i] != 0 || b.value[i] % 8 != 0) {
                mark.derived |= 1 << i;
            }
        }
        self.put(d, &mark);
    }

    pub(super) fn select(&mut self, d: Reg, a: Reg, b: Reg, p: Reg, negated: bool) {
        let (a, b, p) = (self.operand(a), self.operand(b), self.operand(p));
        let first = |i: usize| (p.value[i] == 1) != negated;
        let mut mark = self.mark(&[], Copied, |i| match p.undefined[i] {
            0 => {
                if first(i) {
                    a.undefined[i]
                } else {
                    b.undefined[i]
                }
            }
            _ => a.value[i] ^ b.value[i] | a.undefined[i] | b.undefined[i],
        });
        for i in each(self.mask) {
            let chosen = if first(i) { &a } else { &b };
            let derived = p.undefined[i] != 0 || chosen.derived >> i & 1 == 1;
            mark.derived |= u32::from(derived && mark.undefined[i] != 0) << i;
            if mark.undefined[i] != 0 {
                let origin = p.origin.filter(|_| p.undefined[i] != 0).or(chosen.origin).or(a.origin).or(b.origin);
                mark.origin = origin.unwrap_or(mark.origin);
            }
        }
        self.put(d, &mark);
    }

    /// Equality is known as soon as two known bits differ.
    pub(super) fn compare(&mut self, p: Reg, a: Reg, b: Reg, equality: bool) {
        let (a, b) = (self.operand(a), self.operand(b));
        self.result(p, &[&a, &b], Derived, |i| {
            let undefined = a.undefined[i] | b.undefined[i];
            let differ = equality && (a.value[i] ^ b.value[i]) & !undefined != 0;
            u64::from(undefined != 0 && !differ)
        });
    }

    /// `setp` and `set` by function.
    pub(super) fn comparison(&mut self, c: &Comparison) {
        let halves = self.code.spread(self.pc) == Spread::Halves;
        let part = match (halves, c.upper) {
            (true, true) => 0xffff_0000,
            (true, false) => 0xffff,
            _ => u64::MAX,
        };
        let (a, b) = (self.operand(c.a), self.operand(c.b));
        let other = c.combine.map(|(_, slot, _)| self.operand(flag(slot)));
        let mut from = vec![&a, &b];
        from.extend(&other);
        let test = |i: usize| (a.undefined[i] | b.undefined[i]) & part != 0;
        // A combined predicate may decide whatever the comparison says.
        let decided = |i: usize, q: bool| {
            let Some(((op, _, negated), other)) = c.combine.zip(other.as_ref()) else { return false };
            let known = other.undefined[i] == 0;
            let other = (other.value[i] == 1) != negated;
            let truth =
                (c.test)(a.value[i] >> if c.upper { 16 } else { 0 }, b.value[i] >> if c.upper { 16 } else { 0 });
            let truth = truth != q;
            let decides =
                |known: bool, value: bool| known && (op == BoolOp::And && !value || op == BoolOp::Or && value);
            decides(known, other) || decides(!test(i), truth)
        };
        let undefined = |i: usize| test(i) || other.as_ref().is_some_and(|o| o.undefined[i] != 0);
        let p = self.mark(&from, Derived, |i| u64::from(undefined(i) && !decided(i, false)));
        let q = self.mark(&from, Derived, |i| u64::from(undefined(i) && !decided(i, true)));
        let value = c.value.map(|(reg, value)| {
            let before = self.operand(reg);
            let kept = |i: usize| before.undefined[i] & c.keep;
            let mut mark = self.mark(&from, Derived, |i| if p.undefined[i] != 0 { value | kept(i) } else { kept(i) });
            if mark.derived == 0 {
                mark.origin = before.origin.unwrap_or(mark.origin);
            }
            (reg, mark)
        });
        if let Some(slot) = c.p {
            self.put(flag(slot), &p);
        }
        if let Some(slot) = c.q {
            self.put(flag(slot), &q);
        }
        if let Some((reg, mark)) = value {
            self.put(reg, &mark);
        }
    }

    /// Functions: as far as [`Spread`] says.
    pub(super) fn function(&mut self, d: Reg, from: &[Reg], f: impl Fn(&[u64]) -> u64) {
        let operands: Vec<Operand> = from.iter().map(|reg| self.operand(*reg)).collect();
        let refs: Vec<&Operand> = operands.iter().collect();
        let any = |i: usize| operands.iter().fold(0, |u, o| u | o.undefined[i]);
        match self.code.spread(self.pc) {
            Spread::Whole => self.whole(&[d], from),
            Spread::Halves => self.result(d, &refs, Derived, |i| fields(any(i), 16)),
            Spread::Words => self.result(d, &refs, Derived, |i| fields(any(i), 32)),
            Spread::Packed => {
                let half = width(d).count_ones() / 2;
                let low = (1u64 << half) - 1;
                let undefined = |n: usize, i: usize| operands.get(n).is_some_and(|o| o.undefined[i] != 0);
                self.result(d, &refs, Derived, |i| {
                    (if undefined(0, i) { low << half } else { 0 }) | if undefined(1, i) { low } else { 0 }
                });
            }
            // Where each bit goes shows when it is flipped, as long as those operands are known that say where to.
            Spread::Routed { by } => {
                let routed = operands.len().saturating_sub(usize::from(by));
                self.result(d, &refs, Copied, |i| {
                    let values: Vec<u64> = operands.iter().map(|o| o.value[i]).collect();
                    let plain = f(&values);
                    let flips = |n: usize| {
                        let mut flipped = values.clone();
                        flipped[n] ^= operands[n].undefined[i];
                        f(&flipped) ^ plain
                    };
                    if operands[routed..].iter().any(|o| o.undefined[i] != 0) {
                        return u64::MAX;
                    }
                    (0..routed).fold(0, |u, n| u | flips(n))
                });
            }
        }
    }

    pub(super) fn copy(&mut self, d: Reg, a: Reg, how: How, f: impl Fn(u64) -> u64) {
        let a = self.operand(a);
        self.result(d, &[&a], how, |i| f(a.undefined[i]));
    }

    /// Side by side, the first the least significant.
    pub(super) fn concatenated(&mut self, d: Reg, from: &[Reg]) {
        let operands: Vec<Operand> = from.iter().map(|reg| self.operand(*reg)).collect();
        let refs: Vec<&Operand> = operands.iter().collect();
        self.result(d, &refs, Copied, |i| {
            let mut shift = 0;
            from.iter().zip(&operands).fold(0, |u, (reg, o)| {
                let part = (o.undefined[i] & width(*reg)).checked_shl(shift).unwrap_or(0);
                shift += u32::from(reg.bits);
                u | part
            })
        });
    }

    /// The reverse.
    pub(super) fn parted(&mut self, a: Reg, to: &[Reg]) {
        let a = self.operand(a);
        let mut shift = 0;
        for d in to {
            self.result(*d, &[&a], Copied, |i| a.undefined[i].checked_shr(shift).unwrap_or(0) & width(*d));
            shift += u32::from(d.bits);
        }
    }
}
