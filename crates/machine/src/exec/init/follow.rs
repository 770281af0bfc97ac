//! How undefined bits go from operands to results, one instruction at a time. Entered only while a warp has some.

mod rules;
mod slow;

use super::bits::{self, AND, OR, XOR, upwards};
use super::report::Use;
use super::shadow::{Mark, Origin, Shadow};
use super::{Init, Lanes};
use crate::code::{self, Code, D3, MicroOp, Reg, SlowOp, Target, double, flag, word};
use crate::exec::block::Common;
use crate::exec::grid::Worker;
use crate::exec::lanes::{Bases, View, each};
use crate::exec::warp::Split;
use fusion_ptx::ast::{BoolOp, Compare};

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

impl Worker<'_> {
    /// Before an instruction: follows undefined bits through it and reports where they matter. Says whether the warp still has some.
    #[cold]
    #[inline(never)]
    pub(crate) fn follow(&mut self, common: &mut Common, split: &Split, regs: &View<'_>, pc: u32, mask: u32) -> bool {
        let code = self.run.code;
        let inst = &code.insts[pc as usize];
        let Some(init) = common.checks.init.as_deref_mut() else { return false };
        init.storing.lanes = 0;
        init.pending.clear();
        init.pending_at = (self.warp, pc);
        if inst.guard != code::TRUE {
            self.needs(init, split.bases, flag(inst.guard), split.mask, pc, Use::Guard);
        }
        let mut involved = false;
        let Some(warp) = init.warps.get_mut(self.warp as usize) else { return false };
        let shadow = &mut warp.shadow;
        code::operands(code, &inst.op, &mut |reg| involved |= shadow.lanes(split.bases, reg) & mask != 0, &mut |_| {});
        if !involved || mask == 0 {
            // A warp operation may yet wait for others before it is done.
            code::operands(code, &inst.op, &mut |_| {}, &mut |reg| shadow.clear(split.bases, reg, mask));
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
            MicroOp::Slow(index) => flow.slow(&code.slow[index as usize], &mut init.pending),
            op => flow.step(op),
        }
        flow.shadow.any()
    }

    /// After a load or a warp operation: what it has brought. Says whether the warp has undefined bits.
    #[cold]
    #[inline(never)]
    pub(crate) fn settle_init(&mut self, common: &mut Common, split: &Split, pc: u32) -> bool {
        self.undefined = false;
        let code = self.run.code;
        let Some(init) = common.checks.init.as_deref_mut() else { return false };
        let Init { warps, loaded, pending, pending_at, .. } = init;
        let Some(warp) = warps.get_mut(self.warp as usize) else { return false };
        // Another warp's operation may still wait for lanes.
        if *pending_at == (self.warp, pc) {
            for (reg, mask, mark) in pending.drain(..) {
                warp.shadow.put(split.bases, reg, mask, &mark);
            }
        }
        let Some(loaded) = loaded.take(u32::MAX) else { return warp.shadow.any() };
        let (regs, element, signed) = match code.insts[pc as usize].op {
            MicroOp::Load(index) => {
                let access = &code.accesses[index as usize];
                (&access.regs, access.element, access.signed)
            }
            MicroOp::Slow(index) => match &code.slow[index as usize] {
                SlowOp::Atomic(atomic) => (&atomic.d, atomic.element, false),
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
        let code = self.run.code;
        let mut need = |reg: Reg, what: Use| self.needs(init, bases, reg, mask, pc, what);
        match *op {
            MicroOp::Branch { p, .. } => need(flag(p), Use::Branch),
            MicroOp::Load(index) | MicroOp::Store(index) => {
                code::base(&code.accesses[index as usize].address).into_iter().for_each(|r| need(r, Use::Address));
            }
            MicroOp::Slow(index) => match &code.slow[index as usize] {
                SlowOp::BranchTable { index, .. } => need(word(*index), Use::Branch),
                SlowOp::Call { target: Target::Indirect(slot), .. } => need(double(*slot), Use::Address),
                SlowOp::Call { target: Target::Builtin(_), args, .. } => {
                    for arg in args {
                        if let code::Argument::Register(reg) = arg {
                            need(*reg, Use::Printed);
                        }
                    }
                }
                SlowOp::Barrier { id, threads, p, .. } => {
                    need(word(*id), Use::Barrier);
                    threads.iter().for_each(|slot| need(word(*slot), Use::Barrier));
                    p.iter().for_each(|(slot, _)| need(flag(*slot), Use::Barrier));
                }
                SlowOp::WarpSync { mask }
                | SlowOp::Match { mask, .. }
                | SlowOp::Redux { mask, .. }
                | SlowOp::Elect { mask, .. }
                | SlowOp::Shuffle { mask: Some(mask), .. }
                | SlowOp::Vote { mask: Some(mask), .. } => need(word(*mask), Use::Mask),
                SlowOp::Atomic(atomic) => {
                    code::base(&atomic.address).into_iter().for_each(|r| need(r, Use::Address));
                    atomic.a.iter().chain(&atomic.c).for_each(|r| need(*r, Use::Atomic));
                }
                SlowOp::CopyAsync { dst, src, src_size, .. } => {
                    let size = src_size.map(word);
                    code::base(dst).into_iter().chain(code::base(src)).chain(size).for_each(|r| need(r, Use::Address));
                }
                _ => {}
            },
            _ => {}
        }
    }
}

impl Flow<'_> {
    fn step(&mut self, op: MicroOp) {
        use MicroOp::*;
        let (code, w, d) = (self.code, word, double);
        match op {
            Add32(s) | Sub32(s) => self.arithmetic(w(s.d), [w(s.a), w(s.b)], false, None),
            Mul32(s) => self.arithmetic(w(s.d), [w(s.a), w(s.b)], true, None),
            Mad32(s) => self.arithmetic(w(s.d), [w(s.a), w(s.b)], true, Some(w(s.c))),
            MulWideU(s) | MulWideS(s) => self.arithmetic(d(s.d), [w(s.a), w(s.b)], true, None),
            MadWideU(s) | MadWideS(s) => self.arithmetic(d(s.d), [w(s.a), w(s.b)], true, Some(d(s.c))),
            Add64(s) | Sub64(s) => self.arithmetic(d(s.d), [d(s.a), d(s.b)], false, None),
            Mul64(s) => self.arithmetic(d(s.d), [d(s.a), d(s.b)], true, None),
            Mad64(s) => self.arithmetic(d(s.d), [d(s.a), d(s.b)], true, Some(d(s.c))),
            And32(s) => self.logic(w(s.d), AND, [Some(w(s.a)), Some(w(s.b)), None]),
            Or32(s) => self.logic(w(s.d), OR, [Some(w(s.a)), Some(w(s.b)), None]),
            Xor32(s) => self.logic(w(s.d), XOR, [Some(w(s.a)), Some(w(s.b)), None]),
            And64(s) => self.logic(d(s.d), AND, [Some(d(s.a)), Some(d(s.b)), None]),
            Or64(s) => self.logic(d(s.d), OR, [Some(d(s.a)), Some(d(s.b)), None]),
            Xor64(s) => self.logic(d(s.d), XOR, [Some(d(s.a)), Some(d(s.b)), None]),
            Lop3(s, lut) => self.logic(w(s.d), lut, [Some(w(s.a)), Some(w(s.b)), Some(w(s.c))]),
            Not32(s) => self.copy(w(s.d), w(s.a), Derived, |u| u),
            Neg32(s) => self.copy(w(s.d), w(s.a), Derived, upwards),
            Shl32(s) => self.shift(w(s.d), w(s.a), s.b, |u, n| if n < 32 { u << n } else { 0 }),
            ShrU32(s) => self.shift(w(s.d), w(s.a), s.b, |u, n| if n < 32 { u >> n } else { 0 }),
            ShrS32(s) => {
                self.shift(w(s.d), w(s.a), s.b, |u, n| u64::from((u as u32 as i32 >> n.min(31)) as u32));
            }
            Shl64(s) => self.shift(d(s.d), d(s.a), s.b, |u, n| if n < 64 { u << n } else { 0 }),
            ShrU64(s) => self.shift(d(s.d), d(s.a), s.b, |u, n| if n < 64 { u >> n } else { 0 }),
            ShrS64(s) => self.shift(d(s.d), d(s.a), s.b, |u, n| (u as i64 >> n.min(63)) as u64),
            MinU32(s) | MaxU32(s) | MinS32(s) | MaxS32(s) | AddF32(s) | SubF32(s) | MulF32(s) | DivF32(s)
            | AddF32Ftz(s) | SubF32Ftz(s) | MulF32Ftz(s) | MinF32(s) | MaxF32(s) => {
                self.whole(w(s.d), &[w(s.a), w(s.b)])
            }
            CopysignF32(s) => {
                let (a, b) = (self.operand(w(s.a)), self.operand(w(s.b)));
                const SIGN: u64 = 1 << 31;
                self.result(w(s.d), &[&a, &b], Derived, |i| a.undefined[i] & SIGN | b.undefined[i] & !SIGN);
            }
            FmaF32(s) | FmaF32Ftz(s) => self.whole(w(s.d), &[w(s.a), w(s.b), w(s.c)]),
            NegF32(s) => self.copy(w(s.d), w(s.a), Derived, |u| u),
            AbsF32(s) => self.copy(w(s.d), w(s.a), Derived, |u| u & 0x7fff_ffff),
            RcpF32(s) | RcpF32Ftz(s) | Ex2F32(s) | Ex2F32Ftz(s) | S32ToF32(s) | U32ToF32(s) => {
                self.whole(w(s.d), &[w(s.a)]);
            }
            AddF64(s) | SubF64(s) | MulF64(s) => self.whole(d(s.d), &[d(s.a), d(s.b)]),
            FmaF64(s) => self.whole(d(s.d), &[d(s.a), d(s.b), d(s.c)]),
            Mov32(s) => self.copy(w(s.d), w(s.a), Copied, |u| u),
            Mov64(s) => self.copy(d(s.d), d(s.a), Copied, |u| u),
            Select32(D3 { d, a, b }, p, negated) => self.select(w(d), w(a), w(b), p, negated),
            Select64(s, p, negated) => self.select(d(s.d), d(s.a), d(s.b), p, negated),
            ZeroExtend64(s) => self.copy(d(s.d), w(s.a), Copied, |u| u),
            SignExtend64(s) => self.copy(d(s.d), w(s.a), Copied, |u| i64::from(u as u32 as i32) as u64),
            Truncate64(s) => self.copy(w(s.d), d(s.a), Copied, |u| u & 0xffff_ffff),
            ZeroExtend32(s, bits) => self.copy(w(s.d), w(s.a), Copied, |u| u & ((1 << bits) - 1)),
            SignExtend32(s, bits) => {
                let shift = 32 - u32::from(bits);
                self.copy(w(s.d), w(s.a), Copied, |u| u64::from((((u as u32) << shift) as i32 >> shift) as u32));
            }
            Pack32To64(s) => {
                let (a, b) = (self.operand(w(s.a)), self.operand(w(s.b)));
                self.result(d(s.d), &[&a, &b], Copied, |i| a.undefined[i] | b.undefined[i] << 32);
            }
            Pack16To32(s) => {
                let (a, b) = (self.operand(w(s.a)), self.operand(w(s.b)));
                self.result(w(s.d), &[&a, &b], Copied, |i| {
                    a.undefined[i] & 0xffff | b.undefined[i] << 16 & 0xffff_ffff
                });
            }
            Unpack64To32 { low, high, a } => self.unpack(d(a), &[Some(w(low)), Some(w(high))], 32),
            Unpack32To16 { low, high, a } => self.unpack(w(a), &[Some(w(low)), Some(w(high))], 16),
            SetpS32(c) | SetpU32(c) => self.compare(c.p, w(c.a), w(c.b), matches!(c.cmp, Compare::Eq | Compare::Ne)),
            SetpS64(c) | SetpU64(c) => self.compare(c.p, d(c.a), d(c.b), matches!(c.cmp, Compare::Eq | Compare::Ne)),
            SetpF32(c) | SetpF32Ftz(c) => self.compare(c.p, w(c.a), w(c.b), false),
            Setp(index) => self.comparison(&code.comparisons[index as usize]),
            LogicP(s, op) => {
                let lut = match op {
                    BoolOp::And => AND,
                    BoolOp::Or => OR,
                    BoolOp::Xor => XOR,
                };
                self.logic(flag(s.d), lut, [Some(flag(s.a)), Some(flag(s.b)), None]);
            }
            Unary(f, d, a) => self.function(d, &[a], |v| f(v[0])),
            Binary(f, d, a, b) => self.function(d, &[a, b], |v| f(v[0], v[1])),
            Ternary(index) => {
                let t = code.ternaries[index as usize];
                self.function(t.d, &[t.a, t.b, t.c], |v| (t.f)(v[0], v[1], v[2]));
            }
            LoadParam(index) | Load(index) => {
                for reg in code.accesses[index as usize].regs.iter().flatten() {
                    self.shadow.clear(self.bases, *reg, self.mask);
                }
            }
            Store(_) | Jump(_) | Branch { .. } | Slow(_) => {}
        }
    }
}
