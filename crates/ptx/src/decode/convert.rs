//! Moving and converting values and addresses (PTX ISA 9.7.9.5, 9.7.9.19 to 9.7.9.21).

use super::modifiers::Flag;
use super::operands::Width;
use super::{Decoder, Result};
use crate::Diagnostic;
use crate::ast::{Mode, Op, Operand, Packed, Rounding, ScalarType, Space, Ternary};
use crate::parser::ArgKind;
use ScalarType::*;

const MOVED: &[ScalarType] = &[Pred, B16, B32, B64, B128, U16, U32, U64, S16, S32, S64, F32, F64];
const CONVERTED: &[ScalarType] =
    &[U8, U16, U32, U64, S8, S16, S32, S64, F16, F16x2, Bf16, Bf16x2, Tf32, F32, F64, E4m3x2, E5m2x2];

pub(super) const OPCODES: &[&str] = &["mov", "cvt", "cvta", "isspacep", "mapa", "getctarank"];

pub(super) fn decode(d: &mut Decoder<'_, '_>) -> Result<Op> {
    match d.opcode {
        "mov" => mov(d),
        "cvt" => cvt(d),
        "cvta" => {
            let to = d.flag("to");
            let Some(space) = d.space() else {
                return d.incomplete("`cvta` needs a state space, such as `.global`");
            };
            let ty = d.ty_of(&[U32, U64])?;
            Ok(Op::Cvta { space, to, ty, d: d.dst(ty)?, a: d.src(ty)? })
        }
        "mapa" | "getctarank" => cluster_address(d),
        _ => isspacep(d),
    }
}

/// `mapa`: where an address of this block's shared memory lies in another block's. `getctarank`: whose an address is.
fn cluster_address(d: &mut Decoder<'_, '_>) -> Result<Op> {
    let maps = d.opcode == "mapa";
    let space = d.space().unwrap_or(Space::Generic);
    if !matches!(space, Space::Generic | Space::SharedCluster) {
        return d.unsupported(format!("`{}` is for `.shared::cluster`", d.opcode));
    }
    let ty = d.ty_of(&[U32, U64])?;
    let dst = d.dst(if maps { ty } else { U32 })?;
    let a = d.src(ty)?;
    if !maps {
        return Ok(Op::RankOf { space, ty, d: dst, a });
    }
    Ok(Op::MapAddress { space, ty, d: dst, a, rank: d.src(U32)? })
}

/// Between registers or vectors of them, or between one register and the parts that it is packed from.
fn mov(d: &mut Decoder<'_, '_>) -> Result<Op> {
    let lanes = d.lanes();
    let ty = d.ty_of(MOVED)?;
    if lanes > 1 {
        let (dsts, srcs) = (d.vector(lanes)?, d.vector(lanes)?);
        let dsts = dsts.iter().map(|arg| d.as_dst(arg, ty, Width::Exact)).collect::<Result<_>>()?;
        let srcs = srcs.iter().map(|arg| d.as_operand(arg, ty, Width::Exact)).collect::<Result<_>>()?;
        return Ok(Op::MovVector { ty, d: dsts, a: srcs });
    }
    let (dst, src) = (d.next()?, d.next()?);
    let is_vector = |kind: &ArgKind<'_>| matches!(kind, ArgKind::Vector(_));
    let (unpacks, packs) = (is_vector(&dst.kind), is_vector(&src.kind));
    let (dst_span, src_span) = (dst.span, src.span);
    let (dsts, srcs) = (d.parts(dst), d.parts(src));
    match (&dsts[..], &srcs[..]) {
        ([dst], [src]) if !unpacks && !packs => {
            Ok(Op::Mov { ty, d: d.as_dst(dst, ty, Width::Exact)?, a: d.as_operand(src, ty, Width::Exact)? })
        }
        ([dst], parts) if parts.len() > 1 => {
            let Some(part) = part(ty, parts.len()) else {
                return Err(Diagnostic::error(src_span, format!("`.{}` has no such parts", ty.name())).into());
            };
            let dst = d.as_dst(dst, ty, Width::Exact)?;
            let parts = parts.iter().map(|arg| d.as_operand(arg, part, Width::Exact)).collect::<Result<_>>()?;
            Ok(Op::Pack { ty, d: dst, parts })
        }
        (parts, [src]) if parts.len() > 1 => {
            let Some(part) = part(ty, parts.len()) else {
                return Err(Diagnostic::error(dst_span, format!("`.{}` has no such parts", ty.name())).into());
            };
            let parts = parts.iter().map(|arg| d.as_dst(arg, part, Width::Exact)).collect::<Result<_>>()?;
            Ok(Op::Unpack { ty, parts, a: d.as_operand(src, ty, Width::Exact)? })
        }
        _ => d.unsupported("`mov` goes between two registers, or one register and a vector"),
    }
}

/// The type of each of `count` parts of a `ty`.
fn part(ty: ScalarType, count: usize) -> Option<ScalarType> {
    match (ty.bits(), count) {
        (16, 2) | (32, 4) => Some(B8),
        (32, 2) | (64, 4) => Some(B16),
        (64, 2) | (128, 4) => Some(B32),
        (128, 2) => Some(B64),
        _ => None,
    }
}

fn cvt(d: &mut Decoder<'_, '_>) -> Result<Op> {
    if d.flag("pack") {
        return cvt_pack(d);
    }
    let mode = d.mode(&[Flag::AnyRounding, Flag::Ftz, Flag::Sat, Flag::Satfinite, Flag::Relu]);
    if mode.rounding == Some(Rounding::Stochastic) {
        return d.unsupported("stochastic rounding is not emulated");
    }
    let dty = d.ty_of(CONVERTED)?;
    let sty = d.ty_of(CONVERTED)?;
    let narrows = dty.is_float() && sty.is_float() && dty.bits() < sty.bits();
    if mode.rounding.is_none() && (narrows || dty.is_float() != sty.is_float()) {
        return d.incomplete("`cvt` needs a rounding here, such as `.rn`, or `.rzi` to an integer");
    }
    let dst = d.next()?;
    let dst = d.as_dst(&dst, dty, Width::AtLeast)?;
    let a = d.next()?;
    let a = d.as_operand(&a, sty, Width::AtLeast)?;
    let packs = matches!(dty, F16x2 | Bf16x2 | E4m3x2 | E5m2x2) && sty == F32;
    let b = if packs { Some(d.src(sty)?) } else { None };
    Ok(Op::Cvt { dty, sty, mode, d: dst, a, b })
}

/// Two integers, clamped and packed (PTX ISA 9.7.9.22).
fn cvt_pack(d: &mut Decoder<'_, '_>) -> Result<Op> {
    if !d.flag("sat") {
        return d.incomplete("`cvt.pack` needs `.sat`");
    }
    let to = d.find(packed);
    let ty = d.ty_of(&[S32])?;
    let Some(to) = to else {
        return d.incomplete("`cvt.pack` needs the type that it packs, such as `.u8`");
    };
    let (dst, a, b) = (d.dst(B32)?, d.src(ty)?, d.src(ty)?);
    // Two halves fill the result; what is narrower leaves room for what is packed already.
    let c = if to.bits == 16 {
        Operand::Imm(0)
    } else {
        d.ty_of(&[B32])?;
        d.src(B32)?
    };
    Ok(Op::Ternary { op: Ternary::CvtPack(to), ty, mode: Mode::plain(), d: dst, a, b, c })
}

/// What `cvt.pack` packs into.
fn packed(name: &str) -> Option<Packed> {
    let (signed, bits) = match name.split_at_checked(1)? {
        ("s", bits) => (true, bits),
        ("u", bits) => (false, bits),
        _ => return None,
    };
    let bits = bits.parse().ok().filter(|bits| matches!(bits, 2 | 4 | 8 | 16))?;
    Some(Packed { bits, signed })
}

fn isspacep(d: &mut Decoder<'_, '_>) -> Result<Op> {
    let Some(space) = d.space() else {
        return d.incomplete("`isspacep` needs a state space, such as `.global`");
    };
    if space == Space::Generic {
        return d.incomplete("`isspacep` needs a state space, such as `.global`");
    }
    let dst = d.pred_dst()?;
    let arg = d.next()?;
    // The address is 64 bits wide, or 32 where addresses are.
    Ok(Op::Isspacep { space, d: dst, a: d.as_operand(&arg, U32, Width::AtLeast)? })
}
