//! Comparison and selection (PTX ISA 9.7.6, 9.7.7).

use super::modifiers::Flag;
use super::{Decoder, Result};
use crate::ast::{BoolOp, Compare, Op, PredOperand, ScalarType};
use ScalarType::*;

const COMPARED: &[ScalarType] = &[B16, B32, B64, U16, U32, U64, S16, S32, S64, F32, F64, F16, F16x2, Bf16, Bf16x2];
const SELECTED: &[ScalarType] = &[B16, B32, B64, U16, U32, U64, S16, S32, S64, F32, F64, F16, F16x2, Bf16, Bf16x2];

pub(super) const OPCODES: &[&str] = &["set", "setp", "selp", "slct"];

pub(super) fn decode(d: &mut Decoder<'_, '_>) -> Result<Op> {
    match d.opcode {
        "setp" => setp(d),
        "set" => set(d),
        "selp" => {
            let ty = d.ty_of(SELECTED)?;
            Ok(Op::Selp { ty, d: d.dst(ty)?, a: d.src(ty)?, b: d.src(ty)?, p: d.pred()? })
        }
        _ => {
            let ftz = d.mode(&[Flag::Ftz]).ftz;
            let ty = d.ty_of(SELECTED)?;
            let cty = d.ty_of(&[S32, F32])?;
            Ok(Op::Slct { ty, cty, ftz, d: d.dst(ty)?, a: d.src(ty)?, b: d.src(ty)?, c: d.src(cty)? })
        }
    }
}

fn setp(d: &mut Decoder<'_, '_>) -> Result<Op> {
    let (cmp, bool_op, ftz) = comparison(d)?;
    let ty = d.ty_of(COMPARED)?;
    check(d, cmp, ty)?;
    let (p, q) = d.dst_and_pred(Pred)?;
    let (a, b) = (d.src(ty)?, d.src(ty)?);
    Ok(Op::Setp { cmp, combine: combine(d, bool_op)?, ty, ftz, p, q, a, b })
}

fn set(d: &mut Decoder<'_, '_>) -> Result<Op> {
    let (cmp, bool_op, ftz) = comparison(d)?;
    let dty = d.ty_of(&[U16, S16, U32, S32, F32, F16, F16x2, Bf16, Bf16x2])?;
    let ty = d.ty_of(COMPARED)?;
    check(d, cmp, ty)?;
    let dst = d.dst(dty)?;
    let (a, b) = (d.src(ty)?, d.src(ty)?);
    Ok(Op::Set { cmp, combine: combine(d, bool_op)?, dty, ty, ftz, d: dst, a, b })
}

fn comparison(d: &mut Decoder<'_, '_>) -> Result<(Compare, Option<BoolOp>, bool)> {
    let Some(cmp) = d.find(compare) else {
        return d.incomplete(format!("`{}` needs a comparison, such as `.lt`", d.opcode));
    };
    let bool_op = d.find(|name| match name {
        "and" => Some(BoolOp::And),
        "or" => Some(BoolOp::Or),
        "xor" => Some(BoolOp::Xor),
        _ => None,
    });
    Ok((cmp, bool_op, d.flag("ftz")))
}

fn compare(name: &str) -> Option<Compare> {
    Some(match name {
        "eq" => Compare::Eq,
        "ne" => Compare::Ne,
        "lt" => Compare::Lt,
        "le" => Compare::Le,
        "gt" => Compare::Gt,
        "ge" => Compare::Ge,
        "lo" => Compare::Lo,
        "ls" => Compare::Ls,
        "hi" => Compare::Hi,
        "hs" => Compare::Hs,
        "equ" => Compare::Equ,
        "neu" => Compare::Neu,
        "ltu" => Compare::Ltu,
        "leu" => Compare::Leu,
        "gtu" => Compare::Gtu,
        "geu" => Compare::Geu,
        "num" => Compare::Num,
        "nan" => Compare::Nan,
        _ => return None,
    })
}

/// Which comparisons a type has: bits only equality, unsigned `lo` to `hs`, floats the unordered ones.
fn check(d: &Decoder<'_, '_>, cmp: Compare, ty: ScalarType) -> Result<()> {
    use Compare::*;
    let fits = match cmp {
        Eq | Ne => true,
        Lt | Le | Gt | Ge => !matches!(ty, B16 | B32 | B64),
        Lo | Ls | Hi | Hs => matches!(ty, U16 | U32 | U64),
        Equ | Neu | Ltu | Leu | Gtu | Geu | Num | Nan => ty.is_float(),
    };
    if fits { Ok(()) } else { d.unsupported(format!("this comparison is not for type `.{}`", ty.name())) }
}

/// The predicate that a comparison is combined with.
fn combine(d: &mut Decoder<'_, '_>, bool_op: Option<BoolOp>) -> Result<Option<(BoolOp, PredOperand)>> {
    bool_op.map(|op| Ok((op, d.pred()?))).transpose()
}
