//! How undefined bits go from operands to results, one instruction at a time. Entered only while a warp has some.

mod matrix;
mod rules;
mod slow;

use std::slice;

use super::bits;
use super::report::Use;
use super::shadow::{Mark, Origin, Shadow};
use super::{Init, Lanes, Pending};
use crate::code::{self, Code, MicroOp, Operands, PerLane, Reg, Role, Rule, SlowOp, flag};
use crate::exec::check::BlockChecks;
use crate::exec::check::Watch;
use crate::exec::state::lanes::{Bases, View, each};
use crate::exec::state::warp::Split;
use smallvec::SmallVec;

/// An operand: its value and what of it is undefined.
struct Operand {
    value: [u64; 32],
    undefined: [u64; 32],
    derived: u32,
    origin: Option<Origin>,
}

/// What the propagation of one instruction works on.
struct Flow<'f> {
    code: &'f Code,
    pc: u32,
    shadow: &'f mut Shadow,
    bases: Bases,
    regs: &'f View<'f>,
    mask: u32,
}

/// How a result comes from its operands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    /// It is made of their bits.
    Copied,
    /// It was computed.
    Derived,
}
use How::{Copied, Derived};

impl Watch<'_> {
    /// Before an instruction: follows undefined bits through it and reports where they matter. Says whether the warp still has some.
    #[cold]
    #[inline(never)]
    pub(crate) fn follow(
        &mut self,
        checks: &mut BlockChecks,
        split: &Split,
        regs: &View<'_>,
        pc: u32,
        mask: u32,
    ) -> bool {
        let code = self.run.code;
        let inst = &code.insts[pc as usize];
        let Some(init) = checks.init.as_deref_mut() else { return false };
        init.storing.lanes = 0;
        init.pending.clear();
        init.pending_at = (self.warp, pc);
        if inst.guard != code::TRUE {
            self.needs(init, split.bases, flag(inst.guard), split.mask, pc, Use::Guard);
        }
        let mut involved = false;
        let Some(warp) = init.warps.get_mut(self.warp as usize) else { return false };
        let shadow = &mut warp.shadow;
        inst.op.reads(code, &mut |reg| involved |= shadow.lanes(split.bases, reg) & mask != 0);
        if !involved || mask == 0 {
            // A warp operation may yet wait for others before it is done.
            inst.op.writes(code, &mut |reg| shadow.clear(split.bases, reg, mask));
            return shadow.any();
        }
        self.matters(init, split.bases, &inst.op, mask, pc);
        let Some(warp) = init.warps.get_mut(self.warp as usize) else { return false };
        let mut flow = Flow { code, pc, shadow: &mut warp.shadow, bases: split.bases, regs, mask };
        match inst.op {
            MicroOp::Store(index) => {
                let access = &code.accesses[index as usize];
                let mut element = 0;
                for reg in &access.regs {
                    if let Some(mark) = reg.and_then(|reg| flow.shadow.get(split.bases, reg)) {
                        for lane in each(mask & mark.lanes()) {
                            let stored = bits::bytes(mark.undefined[lane]) & ((1 << access.element) - 1);
                            if stored != 0 {
                                let known =
                                    if init.storing.lanes >> lane & 1 == 1 { init.storing.bytes[lane] } else { 0 };
                                let derived = mark.derived >> lane & 1 == 1
                                    || init.storing.derived >> lane & 1 == 1 && known != 0;
                                init.storing.add(
                                    lane,
                                    known | stored.checked_shl(element).unwrap_or(0),
                                    derived,
                                    mark.origin,
                                );
                            }
                        }
                    }
                    element += access.element;
                }
            }
            MicroOp::Slow(index)
                if let SlowOp::Matrix(access) = &code.slow[index as usize]
                    && access.row.stores =>
            {
                flow.stored_matrix(access, &mut init.storing);
            }
            op => flow.step(&op, &mut init.pending),
        }
        flow.shadow.any()
    }

    /// After a load or a warp operation: what it has brought. Says whether the warp has undefined bits.
    #[cold]
    #[inline(never)]
    pub(crate) fn followed(&mut self, checks: &mut BlockChecks, split: &Split, pc: u32) -> bool {
        self.undefined = false;
        let code = self.run.code;
        let Some(init) = checks.init.as_deref_mut() else { return false };
        let Init { warps, loaded, pending, pending_at, .. } = init;
        let Some(warp) = warps.get_mut(self.warp as usize) else { return false };
        // Another warp's operation may still wait for lanes.
        if *pending_at == (self.warp, pc) {
            for (reg, mask, mark) in pending.drain(..) {
                warp.shadow.put(split.bases, reg, mask, &mark);
            }
        }
        let Some(loaded) = loaded.take(u32::MAX) else { return warp.shadow.any() };
        let (regs, element, signed): (&[Option<Reg>], _, _) = match code.insts[pc as usize].op {
            MicroOp::Load(index) => {
                let access = &code.accesses[index as usize];
                (&access.regs, access.element, access.signed)
            }
            MicroOp::Slow(index) => match &code.slow[index as usize] {
                SlowOp::Atomic(atomic) => (&atomic.d, atomic.element, false),
                SlowOp::Collective(shuffle) => (slice::from_ref(&shuffle.d), 4, false),
                SlowOp::Matrix(access) => {
                    matrix::loaded(&mut warp.shadow, split.bases, access, &loaded);
                    return warp.shadow.any();
                }
                _ => return warp.shadow.any(),
            },
            _ => return warp.shadow.any(),
        };
        let Lanes { lanes, bytes, derived, origin } = loaded;
        let mut at = 0;
        for reg in regs {
            if let Some(reg) = reg {
                let mut mark = Mark { undefined: [0; 32], derived, origin };
                for lane in each(lanes) {
                    let own = bytes[lane].checked_shr(at).unwrap_or(0) & ((1 << element) - 1);
                    let mut undefined = bits::spread(own);
                    // The extension of an undefined sign.
                    if signed && element < 8 && own >> (element - 1) & 1 == 1 {
                        undefined |= u64::MAX << (8 * element);
                    }
                    mark.undefined[lane] = undefined;
                }
                warp.shadow.put(split.bases, *reg, lanes, &mark);
            }
            at += element;
        }
        warp.shadow.any()
    }

    /// Where the value of a register decides something: reports undefined bits, and lets them be from there on.
    fn needs(&mut self, init: &mut Init, bases: Bases, reg: Reg, mask: u32, pc: u32, what: Use) {
        let Some(warp) = init.warps.get_mut(self.warp as usize) else { return };
        let Some(mark) = warp.shadow.get(bases, reg) else { return };
        let (lanes, origin) = (mark.lanes() & mask, mark.origin);
        if lanes != 0 {
            warp.shadow.clear(bases, reg, lanes);
            self.undefined_use(what, pc, lanes, origin);
        }
    }

    /// The operands of an instruction that must be defined.
    fn matters(&mut self, init: &mut Init, bases: Bases, op: &MicroOp, mask: u32, pc: u32) {
        op.operands(self.run.code, &mut |role, reg| {
            let what = match role {
                Role::Read | Role::Write => return,
                Role::Branch => Use::Branch,
                Role::Address => Use::Address,
                Role::Atomic => Use::Atomic,
                Role::Mask => Use::Mask,
                Role::Barrier => Use::Barrier,
                Role::Printed => Use::Printed,
            };
            self.needs(init, bases, reg, mask, pc, what);
        });
    }
}

impl Flow<'_> {
    /// By the table's rule. Results of warp operations are put off: the warp may wait for other lanes before it executes them.
    fn step(&mut self, op: &MicroOp, pending: &mut Pending) {
        let code = self.code;
        let (mut from, mut to) = (SmallVec::<[Reg; 4]>::new(), SmallVec::<[Reg; 4]>::new());
        op.operands(code, &mut |role, reg| if role == Role::Write { to.push(reg) } else { from.push(reg) });
        match (op.rule(code), from.as_slice(), to.as_slice()) {
            (Rule::Sum, from, [d]) => self.arithmetic(*d, from, false),
            (Rule::Product, from, [d]) => self.arithmetic(*d, from, true),
            (Rule::Bitwise(lut), from, [d]) => self.logic(*d, lut, from),
            (Rule::Shift(f), [a, b], [d]) => self.shift(*d, *a, *b, f),
            (Rule::ZeroExtended(bits), [a], [d]) => self.copy(*d, *a, Copied, |u| u & u64::MAX >> (64 - bits)),
            (Rule::SignExtended(bits), [a], [d]) => {
                let shift = 64 - u32::from(bits);
                self.copy(*d, *a, Copied, |u| ((u << shift) as i64 >> shift) as u64);
            }
            (Rule::InPlace(bits), [a], [d]) => self.copy(*d, *a, Derived, |u| u & bits),
            (Rule::Copysign, [a, b], [d]) => {
                let (a, b) = (self.operand(*a), self.operand(*b));
                const SIGN: u64 = 1 << 31;
                self.result(*d, &[&a, &b], Derived, |i| a.undefined[i] & SIGN | b.undefined[i] & !SIGN);
            }
            (Rule::Concatenated, from, [d]) => self.concatenated(*d, from),
            (Rule::Parted, [a], to) => self.parted(*a, to),
            (Rule::Selected { negated }, [a, b, p], [d]) => self.select(*d, *a, *b, *p, negated),
            (Rule::Compared { equality }, [a, b], [p]) => self.compare(*p, *a, *b, equality),
            (Rule::Comparison(index), ..) => self.comparison(&code.comparisons[index as usize]),
            (Rule::Function(f), from, [d]) => self.function(*d, from, |v| match (f, v) {
                (PerLane::Of1(f), &[a]) => f(a),
                (PerLane::Of2(f), &[a, b]) => f(a, b),
                (PerLane::Of3(f), &[a, b, c]) => f(a, b, c),
                (PerLane::Of4(f), &[a, b, c, e]) => f(a, b, c, e),
                _ => 0,
            }),
            (Rule::Special, ..) => {
                if let MicroOp::Slow(index) = op {
                    self.special(&code.slow[*index as usize], pending);
                }
            }
            (Rule::Defined, _, to) => to.iter().for_each(|reg| self.shadow.clear(self.bases, *reg, self.mask)),
            // Whole; and what no row has.
            (_, from, to) => self.whole(to, from),
        }
    }
}
