//! Floating-point arithmetic in every format (PTX ISA 9.7.3 to 9.7.5).

use super::modifiers::Flag::*;
use super::{Decoder, Result};
use crate::ast::{Accuracy, Binary, Mode, Op, ScalarType, Ternary, TestProperty, Unary};
use ScalarType::{Bf16, Bf16x2, F16, F16x2, F32, F32x2, F64};

const ARITHMETIC: &[ScalarType] = &[F32, F64, F16, F16x2, Bf16, Bf16x2, F32x2];
const SCALARS_AND_PAIRS: &[ScalarType] = &[F32, F64, F16, F16x2, Bf16, Bf16x2];
const FULL: &[ScalarType] = &[F32, F64];

pub(super) const OPCODES: &[&str] =
    &["fma", "rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh", "testp", "copysign"];

pub(super) fn decode(d: &mut Decoder<'_, '_>) -> Result<Op> {
    match d.opcode {
        "add" => binary(d, Binary::Add),
        "sub" => binary(d, Binary::Sub),
        "mul" => binary(d, Binary::Mul),
        "div" => {
            let mode = d.mode(&[Rounding, Approx, Full, Ftz]);
            rounded(d, &mode)?;
            let ty = d.ty_of(FULL)?;
            d.binary(Binary::Div, ty, mode)
        }
        "fma" | "mad" => {
            let mode = d.mode(&[Rounding, Ftz, Sat, Relu, Oob]);
            rounded(d, &mode)?;
            let ty = d.ty_of(ARITHMETIC)?;
            d.ternary(Ternary::Fma, ty, mode)
        }
        "min" => min_max(d, Binary::Min, Ternary::Min3),
        "max" => min_max(d, Binary::Max, Ternary::Max3),
        "abs" => unary(d, Unary::Abs, SCALARS_AND_PAIRS),
        "neg" => unary(d, Unary::Neg, SCALARS_AND_PAIRS),
        "rcp" => unary(d, Unary::Rcp, FULL),
        "sqrt" => unary(d, Unary::Sqrt, FULL),
        "rsqrt" => unary(d, Unary::Rsqrt, FULL),
        "sin" => approximate(d, Unary::Sin, &[F32]),
        "cos" => approximate(d, Unary::Cos, &[F32]),
        "lg2" => approximate(d, Unary::Lg2, &[F32]),
        "ex2" => approximate(d, Unary::Ex2, &[F32, F16, F16x2, Bf16, Bf16x2]),
        "tanh" => approximate(d, Unary::Tanh, &[F32, F16, F16x2, Bf16, Bf16x2]),
        "copysign" => {
            let mode = d.mode(&[]);
            let ty = d.ty_of(FULL)?;
            d.binary(Binary::Copysign, ty, mode)
        }
        _ => testp(d),
    }
}

/// Refuses an instruction that does not say how it rounds.
fn rounded(d: &Decoder<'_, '_>, mode: &Mode) -> Result<()> {
    if mode.rounding.is_some() || mode.accuracy != Accuracy::Exact {
        return Ok(());
    }
    d.incomplete(format!("`{}` needs a rounding, such as `.rn`", d.opcode))
}

fn binary(d: &mut Decoder<'_, '_>, op: Binary) -> Result<Op> {
    let mode = d.mode(&[Rounding, Ftz, Sat]);
    let ty = d.ty_of(ARITHMETIC)?;
    d.binary(op, ty, mode)
}

fn min_max(d: &mut Decoder<'_, '_>, op: Binary, of_three: Ternary) -> Result<Op> {
    let mode = d.mode(&[Ftz, Nan, XorsignAbs]);
    let ty = d.ty_of(SCALARS_AND_PAIRS)?;
    if d.remaining() == 4 {
        return d.ternary(of_three, ty, mode);
    }
    d.binary(op, ty, mode)
}

fn unary(d: &mut Decoder<'_, '_>, op: Unary, allowed: &[ScalarType]) -> Result<Op> {
    let mode = d.mode(&[Rounding, Approx, Ftz]);
    if matches!(op, Unary::Rcp | Unary::Sqrt | Unary::Rsqrt) {
        rounded(d, &mode)?;
    }
    let ty = d.ty_of(allowed)?;
    d.unary(op, ty, mode)
}

/// Functions that exist in `.approx` only, which PTX before 1.4 left unsaid.
fn approximate(d: &mut Decoder<'_, '_>, op: Unary, allowed: &[ScalarType]) -> Result<Op> {
    let mut mode = d.mode(&[Approx, Ftz]);
    mode.accuracy = Accuracy::Approx;
    let ty = d.ty_of(allowed)?;
    d.unary(op, ty, mode)
}

fn testp(d: &mut Decoder<'_, '_>) -> Result<Op> {
    let property = d.find(|name| {
        Some(match name {
            "finite" => TestProperty::Finite,
            "infinite" => TestProperty::Infinite,
            "number" => TestProperty::Number,
            "notanumber" => TestProperty::NotANumber,
            "normal" => TestProperty::Normal,
            "subnormal" => TestProperty::Subnormal,
            _ => return None,
        })
    });
    let Some(property) = property else {
        return d.incomplete("`testp` needs a property, such as `.finite`");
    };
    let ty = d.ty_of(FULL)?;
    Ok(Op::Testp { property, ty, d: d.pred_dst()?, a: d.src(ty)? })
}
