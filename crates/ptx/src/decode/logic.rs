//! Logic and shifts (PTX ISA 9.7.8), and byte permutation (9.7.9.7).

use super::{Decoder, Result};
use crate::ast::{Binary, Mode, Op, PrmtMode, ScalarType, Ternary, Unary};
use ScalarType::*;

pub(super) const OPCODES: &[&str] = &["and", "or", "xor", "not", "cnot", "lop3", "shf", "shl", "shr", "prmt"];

pub(super) fn decode(d: &mut Decoder<'_, '_>) -> Result<Op> {
    match d.opcode {
        "and" => binary(d, Binary::And),
        "or" => binary(d, Binary::Or),
        "xor" => binary(d, Binary::Xor),
        "not" => {
            let ty = d.ty_of(&[Pred, B16, B32, B64])?;
            d.unary(Unary::Not, ty, Mode::plain())
        }
        "cnot" => {
            let ty = d.ty_of(&[B16, B32, B64])?;
            d.unary(Unary::Cnot, ty, Mode::plain())
        }
        "shl" => {
            let ty = d.ty_of(&[B16, B32, B64])?;
            d.binary(Binary::Shl, ty, Mode::plain())
        }
        "shr" => {
            let ty = d.ty_of(&[B16, B32, B64, U16, U32, U64, S16, S32, S64])?;
            d.binary(Binary::Shr, ty, Mode::plain())
        }
        "shf" => funnel(d),
        "prmt" => {
            let ty = d.ty_of(&[B32])?;
            let mode = d.find(permutation).unwrap_or(PrmtMode::Generic);
            d.ternary(Ternary::Prmt(mode), ty, Mode::plain())
        }
        _ => lop3(d),
    }
}

fn binary(d: &mut Decoder<'_, '_>, op: Binary) -> Result<Op> {
    let ty = d.ty_of(&[Pred, B16, B32, B64])?;
    d.binary(op, ty, Mode::plain())
}

fn funnel(d: &mut Decoder<'_, '_>) -> Result<Op> {
    let (left, right) = (d.flag("l"), d.flag("r"));
    let wrap = d.flag("wrap");
    let clamp = d.flag("clamp");
    if left == right || wrap == clamp {
        return d.incomplete("`shf` needs `.l` or `.r`, and `.wrap` or `.clamp`");
    }
    let ty = d.ty_of(&[B32])?;
    let op = if left { Ternary::ShfL { wrap } } else { Ternary::ShfR { wrap } };
    d.ternary(op, ty, Mode::plain())
}

fn permutation(name: &str) -> Option<PrmtMode> {
    Some(match name {
        "f4e" => PrmtMode::F4e,
        "b4e" => PrmtMode::B4e,
        "rc8" => PrmtMode::Rc8,
        "ecl" => PrmtMode::Ecl,
        "ecr" => PrmtMode::Ecr,
        "rc16" => PrmtMode::Rc16,
        _ => return None,
    })
}

/// `lop3.b32 d, a, b, c, lut` and `lop3.or.b32 d|p, a, b, c, lut, q`
fn lop3(d: &mut Decoder<'_, '_>) -> Result<Op> {
    let or = d.flag("or");
    let with_pred = or || d.flag("and");
    let ty = d.ty_of(&[B32])?;
    let (dst, p) = d.dst_and_pred(ty)?;
    let (a, b, c) = (d.src(ty)?, d.src(ty)?, d.src(ty)?);
    let lut = d.constant()? as u8;
    match (with_pred, p) {
        (false, None) => Ok(Op::Ternary { op: Ternary::Lop3(lut), ty, mode: Mode::plain(), d: dst, a, b, c }),
        (true, Some(p)) => Ok(Op::Lop3Pred { lut, or, d: dst, p, a, b, c, q: d.pred()? }),
        _ => d.invalid("`lop3` writes a predicate, `d|p`, exactly when it has `.and` or `.or`"),
    }
}
