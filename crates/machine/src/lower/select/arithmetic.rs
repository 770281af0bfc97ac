//! Arithmetic, logic and comparisons.

use fusion_ptx::ast::{Accuracy, Binary, Compare, Mode, Op, Operand, Rounding, ScalarType, Ternary, Unary};

use super::{Selected, Selector, unsupported};
use crate::arith;
use crate::code::{
    CARRY, CarryKind, CarryOp, Compared, Comparison, D2, D3, D4, MicroOp, QuaternaryOp, Reg, SlowOp, TernaryOp,
};

/// No modifiers but the default rounding: the forms that have micro-operations of their own.
fn nearest(mode: &Mode) -> bool {
    let rounding = matches!(mode.rounding, None | Some(Rounding::Nearest));
    rounding && !mode.sat && !mode.relu && !mode.nan && !mode.xorsign_abs && !mode.oob
}

fn no_form<T>(what: String) -> Selected<T> {
    unsupported(format!("no such form is implemented: {what}"))
}

impl Selector<'_> {
    pub(super) fn arithmetic(&mut self, op: &Op) -> Selected {
        match op {
            Op::Unary { op, ty, mode, d, a } => {
                if *ty == ScalarType::Pred {
                    let d = self.destination(*d, 1)?.slot;
                    let a = self.predicate(a)?;
                    self.emit(MicroOp::LogicP(D3 { d, a, b: crate::code::TRUE }, fusion_ptx::ast::BoolOp::Xor));
                    return Ok(());
                }
                let [result, of] = op.types(*ty).map(ScalarType::bits);
                let a = self.value(a, of)?;
                let d = self.destination(*d, result)?;
                if let Some(hot) = hot_unary(*op, *ty, mode, D2 { d: d.slot, a: a.slot }) {
                    self.emit(hot);
                    return Ok(());
                }
                match arith::unary(*op, *ty, *mode) {
                    Some(f) => self.emit(MicroOp::Unary(f, d, a)),
                    None => return no_form(format!("{op:?} of {ty:?}")),
                }
            }
            Op::Binary { op, ty, mode, d, a, b } => {
                if *ty == ScalarType::Pred {
                    return self.logic(*op, *d, a, b);
                }
                if mode.carry_in || mode.carry_out {
                    let kind = match op {
                        Binary::Add => CarryKind::Add,
                        Binary::Sub => CarryKind::Sub,
                        _ => return no_form(format!("{op:?} with carry")),
                    };
                    return self.carry(kind, *ty, mode, *d, a, b, None);
                }
                let [result, first, second] = op.types(*ty).map(ScalarType::bits);
                let (a, b) = (self.value(a, first)?, self.value(b, second)?);
                let d = self.destination(*d, result)?;
                if let Some(hot) = hot_binary(*op, *ty, mode, D3 { d: d.slot, a: a.slot, b: b.slot }) {
                    self.emit(hot);
                    return Ok(());
                }
                match arith::binary(*op, *ty, *mode) {
                    Some(f) => self.emit(MicroOp::Binary(f, d, a, b)),
                    None => return no_form(format!("{op:?} of {ty:?}")),
                }
            }
            Op::Ternary { op, ty, mode, d, a, b, c } => {
                if mode.carry_in || mode.carry_out {
                    let high = match op {
                        Ternary::Mad => false,
                        Ternary::MadHi => true,
                        _ => return no_form(format!("{op:?} with carry")),
                    };
                    return self.carry(CarryKind::Mad { high }, *ty, mode, *d, a, b, Some(c));
                }
                let [result, first, second, third] = op.types(*ty).map(ScalarType::bits);
                let (a, b, c) = (self.value(a, first)?, self.value(b, second)?, self.value(c, third)?);
                let d = self.destination(*d, result)?;
                let slots = D4 { d: d.slot, a: a.slot, b: b.slot, c: c.slot };
                if let Some(hot) = hot_ternary(*op, *ty, mode, slots) {
                    self.emit(hot);
                    return Ok(());
                }
                let Some(f) = arith::ternary(*op, *ty, *mode) else {
                    return no_form(format!("{op:?} of {ty:?}"));
                };
                self.code.ternaries.push(TernaryOp { f, d, a, b, c });
                self.emit(MicroOp::Ternary(self.code.ternaries.len() as u32 - 1));
            }
            Op::Lop3Pred { lut, or, d, p, a, b, c, q } => {
                let (a, b, c) = (self.source(a, 32)?, self.source(b, 32)?, self.source(c, 32)?);
                let d = self.destination(*d, 32)?.slot;
                let p = self.flag(*p)?;
                let q = self.pred(*q)?;
                self.emit(MicroOp::Lop3(D4 { d, a, b, c }, *lut));
                self.slow(SlowOp::Lop3Predicate { d, p, or: *or, q });
            }
            Op::Quaternary { op, ty, d, sources } => {
                let [result, of @ ..] = op.types(*ty).map(ScalarType::bits);
                let mut regs = [Reg { slot: 0, bits: 0 }; 4];
                for ((reg, source), bits) in regs.iter_mut().zip(sources).zip(of) {
                    *reg = self.value(source, bits)?;
                }
                let d = self.destination(*d, result)?;
                let Some(f) = arith::quaternary(*op, *ty) else {
                    return no_form(format!("{op:?} of {ty:?}"));
                };
                self.code.quaternaries.push(QuaternaryOp { f, d, sources: regs });
                self.emit(MicroOp::Quaternary(self.code.quaternaries.len() as u32 - 1));
            }
            Op::Testp { property, ty, d, a } => {
                let a = self.value(a, ty.bits())?;
                let d = self.flag(*d)?;
                let Some(test) = arith::testp(*property, *ty) else {
                    return no_form(format!("testp of {ty:?}"));
                };
                self.slow(SlowOp::TestProperty { test, d, a });
            }
            Op::Set { cmp, combine, dty, ty, ftz, d, a, b } => {
                let (a, b) = (self.value(a, ty.bits())?, self.value(b, ty.bits())?);
                let d = self.destination(*d, dty.bits())?;
                let combine = combine.map(|(op, c)| self.pred(c).map(|(s, n)| (op, s, n))).transpose()?;
                let (Some(test), Some(value)) = (arith::compare(*cmp, *ty, *ftz), arith::set_value(*dty)) else {
                    return no_form(format!("set.{cmp:?} of {ty:?}"));
                };
                let half = |upper, value, keep| Comparison {
                    test,
                    upper,
                    a,
                    b,
                    p: None,
                    q: None,
                    combine,
                    value: Some((d, value)),
                    keep,
                };
                if matches!(ty, ScalarType::F16x2 | ScalarType::Bf16x2) {
                    self.comparison(half(false, value & 0xffff, 0xffff_0000));
                    self.comparison(half(true, value & 0xffff_0000, 0xffff));
                } else {
                    self.comparison(half(false, value, 0));
                }
            }
            Op::Setp { cmp, combine, ty, ftz, p, q, a, b } => {
                let (a, b) = (self.value(a, ty.bits())?, self.value(b, ty.bits())?);
                let (p, q) = (self.optional_flag(*p)?, self.optional_flag(*q)?);
                let combine = combine.map(|(op, c)| self.pred(c).map(|(s, n)| (op, s, n))).transpose()?;
                if let (Some(p), None, None) = (p, q, combine)
                    && let Some(hot) = hot_comparison(*cmp, *ty, *ftz, p, a, b)
                {
                    self.emit(hot);
                    return Ok(());
                }
                let Some(test) = arith::compare(*cmp, *ty, *ftz) else {
                    return no_form(format!("setp.{cmp:?} of {ty:?}"));
                };
                let comparison = Comparison { test, upper: false, a, b, p, q, combine, value: None, keep: 0 };
                if matches!(ty, ScalarType::F16x2 | ScalarType::Bf16x2) {
                    self.comparison(Comparison { q: None, ..comparison });
                    self.comparison(Comparison { upper: true, p: q, q: None, ..comparison });
                } else {
                    self.comparison(comparison);
                }
            }
            _ => return unsupported("not arithmetic"),
        }
        Ok(())
    }

    fn comparison(&mut self, comparison: Comparison) {
        self.code.comparisons.push(comparison);
        self.emit(MicroOp::Setp(self.code.comparisons.len() as u32 - 1));
    }

    fn logic(&mut self, op: Binary, d: fusion_ptx::ast::Dst, a: &Operand, b: &Operand) -> Selected {
        use fusion_ptx::ast::BoolOp;
        let op = match op {
            Binary::And => BoolOp::And,
            Binary::Or => BoolOp::Or,
            Binary::Xor => BoolOp::Xor,
            _ => return no_form(format!("{op:?} of predicates")),
        };
        let (a, b) = (self.predicate(a)?, self.predicate(b)?);
        let d = self.destination(d, 1)?.slot;
        self.emit(MicroOp::LogicP(D3 { d, a, b }, op));
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "the operands of one instruction")]
    fn carry(
        &mut self,
        kind: CarryKind,
        ty: ScalarType,
        mode: &Mode,
        d: fusion_ptx::ast::Dst,
        a: &Operand,
        b: &Operand,
        c: Option<&Operand>,
    ) -> Selected {
        let bits = ty.bits();
        let (a, b) = (self.value(a, bits)?, self.value(b, bits)?);
        let c = c.map(|c| self.value(c, bits)).transpose()?;
        let d = self.destination(d, bits)?;
        let (carry_in, carry_out) = (mode.carry_in.then_some(CARRY), mode.carry_out.then_some(CARRY));
        self.slow(SlowOp::Carry(CarryOp { kind, ty, d, a, b, c, carry_in, carry_out }));
        Ok(())
    }
}

fn hot_unary(op: Unary, ty: ScalarType, mode: &Mode, s: D2) -> Option<MicroOp> {
    use ScalarType::*;
    Some(match (op, ty) {
        (Unary::Not, B32) => MicroOp::Not32(s),
        (Unary::Neg, S32) if !mode.sat => MicroOp::Neg32(s),
        (Unary::Neg, F32) if !mode.ftz => MicroOp::NegF32(s),
        (Unary::Abs, F32) if !mode.ftz => MicroOp::AbsF32(s),
        (Unary::Rcp, F32) if mode.accuracy == Accuracy::Approx && mode.ftz => MicroOp::RcpF32Ftz(s),
        (Unary::Rcp, F32) if mode.accuracy == Accuracy::Approx => MicroOp::RcpF32(s),
        (Unary::Ex2, F32) if mode.ftz => MicroOp::Ex2F32Ftz(s),
        (Unary::Ex2, F32) => MicroOp::Ex2F32(s),
        _ => return None,
    })
}

fn hot_binary(op: Binary, ty: ScalarType, mode: &Mode, s: D3) -> Option<MicroOp> {
    use Binary::*;
    use ScalarType::*;
    if !nearest(mode) {
        return None;
    }
    Some(match (op, ty) {
        (Add, S32 | U32) => MicroOp::Add32(s),
        (Sub, S32 | U32) => MicroOp::Sub32(s),
        (Mul, S32 | U32) => MicroOp::Mul32(s),
        (And, B16 | B32 | U32 | S32) => MicroOp::And32(s),
        (Or, B16 | B32 | U32 | S32) => MicroOp::Or32(s),
        (Xor, B16 | B32 | U32 | S32) => MicroOp::Xor32(s),
        (Shl, B32 | U32 | S32) => MicroOp::Shl32(s),
        (Shr, B32 | U32) => MicroOp::ShrU32(s),
        (Shr, S32) => MicroOp::ShrS32(s),
        (Min, U32) => MicroOp::MinU32(s),
        (Max, U32) => MicroOp::MaxU32(s),
        (Min, S32) => MicroOp::MinS32(s),
        (Max, S32) => MicroOp::MaxS32(s),
        (MulWide, U32) => MicroOp::MulWideU(s),
        (MulWide, S32) => MicroOp::MulWideS(s),
        (Add, S64 | U64) => MicroOp::Add64(s),
        (Sub, S64 | U64) => MicroOp::Sub64(s),
        (Mul, S64 | U64) => MicroOp::Mul64(s),
        (And, B64 | U64 | S64) => MicroOp::And64(s),
        (Or, B64 | U64 | S64) => MicroOp::Or64(s),
        (Xor, B64 | U64 | S64) => MicroOp::Xor64(s),
        (Shl, B64 | U64 | S64) => MicroOp::Shl64(s),
        (Shr, B64 | U64) => MicroOp::ShrU64(s),
        (Shr, S64) => MicroOp::ShrS64(s),
        (Add, F32) if mode.ftz => MicroOp::AddF32Ftz(s),
        (Sub, F32) if mode.ftz => MicroOp::SubF32Ftz(s),
        (Mul, F32) if mode.ftz => MicroOp::MulF32Ftz(s),
        (Add, F32) => MicroOp::AddF32(s),
        (Sub, F32) => MicroOp::SubF32(s),
        (Mul, F32) => MicroOp::MulF32(s),
        (Div, F32) if mode.accuracy == Accuracy::Exact && !mode.ftz => MicroOp::DivF32(s),
        (Min, F32) if !mode.ftz => MicroOp::MinF32(s),
        (Max, F32) if !mode.ftz => MicroOp::MaxF32(s),
        (Copysign, F32) => MicroOp::CopysignF32(s),
        (Add, F64) => MicroOp::AddF64(s),
        (Sub, F64) => MicroOp::SubF64(s),
        (Mul, F64) => MicroOp::MulF64(s),
        _ => return None,
    })
}

fn hot_ternary(op: Ternary, ty: ScalarType, mode: &Mode, s: D4) -> Option<MicroOp> {
    use ScalarType::*;
    if !nearest(mode) {
        return None;
    }
    Some(match (op, ty) {
        (Ternary::Mad, S32 | U32) => MicroOp::Mad32(s),
        (Ternary::Mad, S64 | U64) => MicroOp::Mad64(s),
        (Ternary::MadWide, U32) => MicroOp::MadWideU(s),
        (Ternary::MadWide, S32) => MicroOp::MadWideS(s),
        (Ternary::Fma, F32) if mode.ftz => MicroOp::FmaF32Ftz(s),
        (Ternary::Fma, F32) => MicroOp::FmaF32(s),
        (Ternary::Fma, F64) => MicroOp::FmaF64(s),
        (Ternary::Lop3(lut), _) => MicroOp::Lop3(s, lut),
        _ => return None,
    })
}

fn hot_comparison(cmp: Compare, ty: ScalarType, ftz: bool, p: u32, a: Reg, b: Reg) -> Option<MicroOp> {
    use ScalarType::*;
    let of = |cmp| Compared { cmp, p, a: a.slot, b: b.slot };
    let signless = match cmp {
        Compare::Lo => Compare::Lt,
        Compare::Ls => Compare::Le,
        Compare::Hi => Compare::Gt,
        Compare::Hs => Compare::Ge,
        other => other,
    };
    let integral =
        matches!(signless, Compare::Eq | Compare::Ne | Compare::Lt | Compare::Le | Compare::Gt | Compare::Ge);
    Some(match ty {
        S32 if integral && signless == cmp => MicroOp::SetpS32(of(cmp)),
        S64 if integral && signless == cmp => MicroOp::SetpS64(of(cmp)),
        // Words are kept zero-extended, so 16 bits compare as 32 do.
        U16 | B16 | U32 | B32 if integral => MicroOp::SetpU32(of(signless)),
        S16 if matches!(cmp, Compare::Eq | Compare::Ne) => MicroOp::SetpU32(of(cmp)),
        U64 | B64 if integral => MicroOp::SetpU64(of(signless)),
        F32 if ftz => MicroOp::SetpF32Ftz(of(cmp)),
        F32 => MicroOp::SetpF32(of(cmp)),
        _ => return None,
    })
}
