//! Moves, selections and conversions.

use fusion_ptx::ast::{BoolOp, Mode, Op, Operand, Rounding, ScalarType, Space};

use super::{Selected, Selector, unsupported};
use crate::arith;
use crate::code::{D2, D3, Fill, MicroOp, Place, Reg, Slot, SlowOp, window};

impl Selector<'_> {
    pub(super) fn data(&mut self, op: &Op) -> Selected {
        match op {
            Op::Mov { ty: ScalarType::Pred, d, a } => {
                let a = self.predicate(a)?;
                let d = self.destination(*d, 1)?.slot;
                self.emit(MicroOp::LogicP(D3 { d, a, b: a }, BoolOp::Or));
            }
            Op::Mov { ty: ScalarType::B128, d, a } => {
                let from = self.values(std::slice::from_ref(a), 128)?;
                self.mov_each(&self.targets(&[*d], 128)?, &from);
            }
            Op::Mov { ty, d, a } => {
                let d = self.any_destination(*d, ty.bits())?;
                self.mov(d, a)?;
            }
            Op::MovVector { ty, d, a } => {
                let written = |a: &Operand| matches!(a, Operand::Reg(a) if d.contains(&Some(*a)));
                for (d, a) in d.iter().zip(self.kept(a, ty.bits(), written)?) {
                    let d = self.any_destination(*d, ty.bits())?;
                    let slots = D2 { d: d.slot, a };
                    self.emit(if d.bits == 64 { MicroOp::Mov64(slots) } else { MicroOp::Mov32(slots) });
                }
            }
            Op::Selp { ty, d, a, b, p } => {
                let (a, b) = (self.source(a, ty.bits())?, self.source(b, ty.bits())?);
                let d = self.destination(*d, ty.bits())?.slot;
                let (p, negated) = self.pred(*p)?;
                self.emit(match ty.bits() {
                    64 => MicroOp::Select64 { a, b, p, negated, d },
                    _ => MicroOp::Select32 { a, b, p, negated, d },
                });
            }
            Op::Slct { ty, cty, ftz, d, a, b, c } => {
                let (a, b) = (self.value(a, ty.bits())?, self.value(b, ty.bits())?);
                let c = self.value(c, cty.bits())?;
                let d = self.destination(*d, ty.bits())?;
                let Some(test) = arith::slct(*cty, *ftz) else {
                    return unsupported("slct of this type");
                };
                self.slow(SlowOp::SelectSign { test, d, a, b, c });
            }
            Op::Pack { ty: ScalarType::B128, d, parts } if parts.len() == 2 => {
                let from = self.values(parts, 64)?;
                self.mov_each(&self.targets(&[*d], 128)?, &from);
            }
            Op::Unpack { ty: ScalarType::B128, parts, a } if parts.len() == 2 => {
                let from = self.values(std::slice::from_ref(a), 128)?;
                self.mov_each(&self.targets(parts, 64)?, &from);
            }
            Op::Pack { ty, d, parts } => self.pack(*ty, *d, parts)?,
            Op::Unpack { ty, parts, a } => {
                let part_bits = ty.bits() / parts.len().max(1) as u32;
                if ty.bits() > 64 || parts.is_empty() || part_bits < 8 {
                    return unsupported("no such parts of a register are supported");
                }
                let a = self.value(a, ty.bits())?;
                match (ty.bits(), parts.as_slice()) {
                    (64, &[low, high]) => {
                        let (low, high) = (self.destination(low, 32)?.slot, self.destination(high, 32)?.slot);
                        self.emit(MicroOp::Unpack64To32 { low, high, a: a.slot });
                    }
                    (32, &[low, high]) => {
                        let (low, high) = (self.destination(low, 16)?.slot, self.destination(high, 16)?.slot);
                        self.emit(MicroOp::Unpack32To16 { low, high, a: a.slot });
                    }
                    _ => {
                        let part = |d| Ok(Reg { bits: part_bits as u8, ..self.destination(d, part_bits)? });
                        let parts = parts.iter().copied().map(part).collect::<Selected<_>>()?;
                        self.slow(SlowOp::Unpack { parts, a });
                    }
                }
            }
            Op::Cvt { dty, sty, mode, d, a, b } => {
                let a = self.value(a, sty.bits())?;
                let d = self.any_destination(*d, dty.bits())?;
                if let Some(b) = b {
                    let b = self.value(b, sty.bits())?;
                    let Some(f) = arith::convert_pack(*dty, *sty, *mode) else {
                        return unsupported(format!("no such form is implemented: cvt.{dty:?}.{sty:?} of two values"));
                    };
                    self.emit(MicroOp::Binary(f, d, a, b));
                } else if let Some(hot) = hot_conversion(*dty, *sty, mode, d, a) {
                    self.emit(hot);
                } else if let Some(f) = arith::convert(*dty, *sty, *mode) {
                    self.emit(MicroOp::Unary(f, d, a));
                } else {
                    return unsupported(format!("no such form is implemented: cvt.{dty:?}.{sty:?}"));
                }
            }
            Op::Cvta { space, to, d, a, .. } => {
                let base = match space {
                    Space::Shared | Space::SharedCluster => window::SHARED,
                    Space::Local => window::LOCAL,
                    Space::Param => window::PARAM,
                    Space::Global | Space::Const | Space::Generic => 0,
                };
                let d = self.any_destination(*d, 64)?;
                if base == 0 || d.bits != 64 {
                    return self.mov(d, a);
                }
                let a = self.source(a, 64)?;
                let b = self.frame.fill(Fill::Constant(base), 64);
                let slots = D3 { d: d.slot, a, b };
                self.emit(if *to { MicroOp::Sub64(slots) } else { MicroOp::Add64(slots) });
            }
            Op::Isspacep { space, d, a } => {
                let place = match space {
                    Space::Shared => Place::Shared,
                    Space::SharedCluster => Place::Cluster,
                    Space::Local => Place::Local,
                    Space::Param => Place::Param,
                    Space::Const => Place::Constant,
                    Space::Global => Place::Global,
                    Space::Generic => Place::Generic,
                };
                let a = self.source(a, 64)?;
                let d = self.flag(*d)?;
                self.slow(SlowOp::IsSpace { place, d, a });
            }
            Op::MapAddress { space, ty, d, a, rank } => {
                let (a, rank) = (self.value(a, ty.bits())?, self.source(rank, 32)?);
                let d = self.any_destination(*d, ty.bits())?;
                self.slow(SlowOp::MapAddress { generic: *space == Space::Generic, d, a, rank });
            }
            Op::RankOf { space, ty, d, a } => {
                let (a, d) = (self.value(a, ty.bits())?, self.any_destination(*d, 32)?);
                self.slow(SlowOp::RankOf { generic: *space == Space::Generic, d, a });
            }
            Op::PendingCount { d, a } => {
                let (a, d) = (self.value(a, 64)?, self.any_destination(*d, 32)?);
                self.slow(SlowOp::PendingCount { d, a });
            }
            _ => return unsupported("not a move"),
        }
        Ok(())
    }

    /// The sources of an instruction that is several: those that it overwrites are copied first.
    fn kept(&mut self, from: &[Operand], bits: u32, written: impl Fn(&Operand) -> bool) -> Selected<Vec<Slot>> {
        let keep = |operand: &Operand| {
            if !written(operand) {
                return self.source(operand, bits);
            }
            let copy = self.frame.temporary(bits);
            self.mov(copy, operand)?;
            Ok(copy.slot)
        };
        from.iter().map(keep).collect()
    }

    /// Moves between doubles.
    fn mov_each(&mut self, to: &[Option<Reg>], from: &[Reg]) {
        for (d, a) in to.iter().zip(from) {
            if let Some(d) = d {
                self.emit(MicroOp::Mov64(D2 { d: d.slot, a: a.slot }));
            }
        }
    }

    fn mov(&mut self, d: Reg, a: &Operand) -> Selected {
        if d.bits == 1 {
            return unsupported("a predicate where a value is expected");
        }
        let a = self.source(a, u32::from(d.bits))?;
        let slots = D2 { d: d.slot, a };
        self.emit(if d.bits == 64 { MicroOp::Mov64(slots) } else { MicroOp::Mov32(slots) });
        Ok(())
    }

    fn pack(&mut self, ty: ScalarType, d: fusion_ptx::ast::Dst, parts: &[Operand]) -> Selected {
        let part_bits = ty.bits() / parts.len().max(1) as u32;
        if ty.bits() > 64 || parts.is_empty() || part_bits < 8 {
            return unsupported("no such parts of a register are supported");
        }
        let d = self.destination(d, ty.bits())?;
        match (ty.bits(), parts) {
            (64, [a, b]) => {
                let (a, b) = (self.source(a, 32)?, self.source(b, 32)?);
                self.emit(MicroOp::Pack32To64(D3 { d: d.slot, a, b }));
            }
            (32, [a, b]) => {
                let (a, b) = (self.source(a, 16)?, self.source(b, 16)?);
                self.emit(MicroOp::Pack16To32(D3 { d: d.slot, a, b }));
            }
            _ => {
                let parts = parts.iter().map(|p| self.value(p, part_bits)).collect::<Selected<_>>()?;
                self.slow(SlowOp::Pack { d, parts });
            }
        }
        Ok(())
    }
}

/// Conversions that are a loop of their own: integers without saturation, and integers to f32.
fn hot_conversion(dty: ScalarType, sty: ScalarType, mode: &Mode, d: Reg, a: Reg) -> Option<MicroOp> {
    use ScalarType::*;
    if mode.sat || mode.relu || mode.satfinite || (d.bits == 64) != (dty.bits() == 64) || d.bits == 1 {
        return None;
    }
    let slots = D2 { d: d.slot, a: a.slot };
    if dty == F32 && matches!(mode.rounding, None | Some(Rounding::Nearest)) {
        return match sty {
            S32 => Some(MicroOp::S32ToF32(slots)),
            U32 => Some(MicroOp::U32ToF32(slots)),
            _ => None,
        };
    }
    if dty.is_float() || sty.is_float() {
        return None;
    }
    let (to, from) = (dty.bits(), sty.bits());
    match (to, from) {
        (64, 64) if d.bits == 64 => Some(MicroOp::Mov64(slots)),
        (64, 32) if sty.is_signed() => Some(MicroOp::SignExtend64(slots)),
        (64, 32) => Some(MicroOp::ZeroExtend64(slots)),
        (32, 64) if d.bits == 32 => Some(MicroOp::Truncate64(slots)),
        (32, 32) if d.bits == 32 => Some(MicroOp::Mov32(slots)),
        (32, 8 | 16) if d.bits == 32 && sty.is_signed() => Some(MicroOp::SignExtend32(slots, from as u8)),
        (32, 8 | 16) if d.bits == 32 => Some(MicroOp::ZeroExtend32(slots, from as u8)),
        // Narrowing: what lies above the result's width is its extension.
        (8 | 16, 8 | 16 | 32) if to <= from && d.bits < 64 => match dty.is_signed() {
            true if d.bits == 32 => Some(MicroOp::SignExtend32(slots, to as u8)),
            true if u32::from(d.bits) == to => Some(MicroOp::ZeroExtend32(slots, to as u8)),
            true => None,
            false => Some(MicroOp::ZeroExtend32(slots, to as u8)),
        },
        _ => None,
    }
}
