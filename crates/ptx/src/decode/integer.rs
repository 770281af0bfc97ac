//! Integer arithmetic and bit fields, with and without carry (PTX ISA 9.7.1, 9.7.2), and that of four bytes at once.

use super::modifiers::Flag;
use super::operands::Width;
use super::{Decoder, Result};
use crate::Diagnostic;
use crate::ast::{Binary, Mode, Op, Operand, Quad, Quaternary, ScalarType, Ternary, Then, Unary};
use crate::parser::{Arg, ArgKind};
use ScalarType::*;

const INTEGERS: &[ScalarType] = &[U16, U32, U64, S16, S32, S64];
const INTEGERS_AND_PAIRS: &[ScalarType] = &[U16, U32, U64, S16, S32, S64, U16x2, S16x2];
const SIGNED: &[ScalarType] = &[S16, S32, S64];
const WORDS: &[ScalarType] = &[U32, S32, U64, S64];

pub(super) const OPCODES: &[&str] = &[
    "addc",
    "subc",
    "madc",
    "mul24",
    "mad24",
    "rem",
    "sad",
    "popc",
    "clz",
    "bfind",
    "fns",
    "brev",
    "bfe",
    "bfi",
    "bmsk",
    "szext",
    "dp4a",
    "dp2a",
    "vadd4",
    "vsub4",
    "vavrg4",
    "vabsdiff4",
    "vmin4",
    "vmax4",
];

pub(super) fn decode(d: &mut Decoder<'_, '_>) -> Result<Op> {
    match d.opcode {
        "add" | "addc" => add(d, Binary::Add),
        "sub" | "subc" => add(d, Binary::Sub),
        "mul" => mul(d),
        "mad" | "madc" => mad(d),
        "mul24" => mul24(d),
        "mad24" => mad24(d),
        "div" => plain_binary(d, Binary::Div, INTEGERS),
        "rem" => plain_binary(d, Binary::Rem, INTEGERS),
        "min" => min_max(d, Binary::Min),
        "max" => min_max(d, Binary::Max),
        "abs" => plain_unary(d, Unary::Abs, SIGNED),
        "neg" => plain_unary(d, Unary::Neg, SIGNED),
        "popc" => plain_unary(d, Unary::Popc, &[B32, B64]),
        "clz" => plain_unary(d, Unary::Clz, &[B32, B64]),
        "bfind" => {
            let shiftamt = d.flag("shiftamt");
            plain_unary(d, Unary::Bfind { shiftamt }, WORDS)
        }
        "brev" => plain_unary(d, Unary::Brev, &[B32, B64]),
        "sad" => {
            let ty = d.ty_of(INTEGERS)?;
            d.ternary(Ternary::Sad, ty, Mode::plain())
        }
        "bfe" => {
            let ty = d.ty_of(WORDS)?;
            d.ternary(Ternary::Bfe, ty, Mode::plain())
        }
        "bfi" => {
            let ty = d.ty_of(&[B32, B64])?;
            d.quaternary(Quaternary::Bfi, ty)
        }
        "bmsk" => {
            let wrap = clamp_or_wrap(d)?;
            plain_binary(d, Binary::Bmsk { wrap }, &[B32])
        }
        "szext" => {
            let wrap = clamp_or_wrap(d)?;
            let ty = d.ty_of(&[U32, S32])?;
            d.binary(Binary::Szext { wrap }, ty, Mode::plain())
        }
        "fns" => {
            let ty = d.ty_of(&[B32])?;
            d.ternary(Ternary::Fns, ty, Mode::plain())
        }
        "dp4a" | "dp2a" => dot_product(d),
        _ => quad(d),
    }
}

fn add(d: &mut Decoder<'_, '_>, op: Binary) -> Result<Op> {
    let mut mode = d.mode(&[Flag::CarryOut, Flag::Sat]);
    mode.carry_in = d.opcode.ends_with('c');
    let allowed = if mode.carry_in || mode.carry_out { WORDS } else { INTEGERS_AND_PAIRS };
    let ty = d.ty_of(allowed)?;
    if mode.sat && ty != S32 {
        return d.unsupported("`.sat` is for `.s32`");
    }
    d.binary(op, ty, mode)
}

fn mul(d: &mut Decoder<'_, '_>) -> Result<Op> {
    let ops = [Binary::Mul, Binary::MulHi, Binary::MulWide];
    let (op, is_wide) = half(d, ops)?;
    let ty = d.ty_of(INTEGERS)?;
    if is_wide && ty.twice().is_none() {
        return d.unsupported(format!("`.wide` is not for `.{}`", ty.name()));
    }
    d.binary(op, ty, Mode::plain())
}

fn mad(d: &mut Decoder<'_, '_>) -> Result<Op> {
    let mut mode = d.mode(&[Flag::CarryOut, Flag::Sat]);
    mode.carry_in = d.opcode == "madc";
    let ops = [Ternary::Mad, Ternary::MadHi, Ternary::MadWide];
    let (op, is_wide) = half(d, ops)?;
    let ty = d.ty_of(if mode.carry_in || mode.carry_out { WORDS } else { INTEGERS })?;
    if mode.sat && !(ty == S32 && op == Ternary::MadHi) {
        return d.unsupported("`.sat` is for `mad.hi.s32`");
    }
    if is_wide && ty.twice().is_none() {
        return d.unsupported(format!("`.wide` is not for `.{}`", ty.name()));
    }
    d.ternary(op, ty, mode)
}

fn mul24(d: &mut Decoder<'_, '_>) -> Result<Op> {
    let (op, _) = half(d, [Binary::Mul24, Binary::Mul24Hi, Binary::Mul24])?;
    plain_binary(d, op, &[U32, S32])
}

fn mad24(d: &mut Decoder<'_, '_>) -> Result<Op> {
    let mode = d.mode(&[Flag::Sat]);
    let (op, _) = half(d, [Ternary::Mad24, Ternary::Mad24Hi, Ternary::Mad24])?;
    let ty = d.ty_of(&[U32, S32])?;
    d.ternary(op, ty, mode)
}

/// Which part of a product: `.lo`, `.hi` or `.wide`; and whether it is the last.
fn half<T: Copy>(d: &mut Decoder<'_, '_>, [lo, hi, wide]: [T; 3]) -> Result<(T, bool)> {
    if d.flag("lo") {
        Ok((lo, false))
    } else if d.flag("hi") {
        Ok((hi, false))
    } else if d.flag("wide") {
        Ok((wide, true))
    } else {
        d.incomplete(format!("`{}` needs `.lo`, `.hi` or `.wide`", d.opcode))
    }
}

fn min_max(d: &mut Decoder<'_, '_>, op: Binary) -> Result<Op> {
    let mode = d.mode(&[Flag::Relu]);
    let ty = d.ty_of(INTEGERS_AND_PAIRS)?;
    if mode.relu && !matches!(ty, S32 | S16x2) {
        return d.unsupported("`.relu` is for `.s32` and `.s16x2`");
    }
    d.binary(op, ty, mode)
}

fn plain_unary(d: &mut Decoder<'_, '_>, op: Unary, allowed: &[ScalarType]) -> Result<Op> {
    let ty = d.ty_of(allowed)?;
    d.unary(op, ty, Mode::plain())
}

fn plain_binary(d: &mut Decoder<'_, '_>, op: Binary, allowed: &[ScalarType]) -> Result<Op> {
    let ty = d.ty_of(allowed)?;
    d.binary(op, ty, Mode::plain())
}

fn clamp_or_wrap(d: &mut Decoder<'_, '_>) -> Result<bool> {
    let wrap = d.flag("wrap");
    if wrap || d.flag("clamp") { Ok(wrap) } else { d.incomplete(format!("`{}` needs `.clamp` or `.wrap`", d.opcode)) }
}

fn dot_product(d: &mut Decoder<'_, '_>) -> Result<Op> {
    let high = d.flag("hi");
    let low = d.flag("lo");
    let a_signed = d.ty_of(&[U32, S32])? == S32;
    let b_signed = d.ty_of(&[U32, S32])? == S32;
    let ty = if a_signed || b_signed { S32 } else { U32 };
    let op = match d.opcode {
        "dp4a" if !high && !low => Ternary::Dp4a { a_signed, b_signed },
        "dp2a" if high != low => Ternary::Dp2a { a_signed, b_signed, high },
        "dp2a" => return d.incomplete("`dp2a` needs `.lo` or `.hi`"),
        _ => return d.unsupported(format!("`{}` has no `.lo` or `.hi`", d.opcode)),
    };
    d.ternary(op, ty, Mode::plain())
}

/// `vadd4.u32.u32.u32 d{.b3210}, a{.b3210}, b{.b7654}, c`: lanes of the result, and the bytes of `{b, a}` that go into them.
fn quad(d: &mut Decoder<'_, '_>) -> Result<Op> {
    let op = match d.opcode {
        "vadd4" => Quad::Add,
        "vsub4" => Quad::Sub,
        "vavrg4" => Quad::Avrg,
        "vabsdiff4" => Quad::AbsDiff,
        "vmin4" => Quad::Min,
        _ => Quad::Max,
    };
    let then = match (d.flag("sat"), d.flag("add")) {
        (false, false) => Then::Merge,
        (true, false) => Then::Saturate,
        (false, true) => Then::Accumulate,
        (true, true) => return d.unsupported("`.sat` does not go with `.add`"),
    };
    let mut signed = [false; 3];
    for signed in &mut signed {
        *signed = d.ty_of(&[U32, S32])? == S32;
    }
    let (mut dst, mut a, mut b) = (d.next()?, d.next()?, d.next()?);
    let lanes = selected(&mut dst, "b3210", 3)?.iter().fold(0, |lanes, lane| lanes | 1 << lane);
    let (of_a, of_b) = (selected(&mut a, "b3210", 7)?, selected(&mut b, "b7654", 7)?);
    // The last digit is the lowest lane's.
    let digits = |of: &[u64]| of.iter().fold(0, |digits, byte| digits << 4 | byte);
    let selection = lanes << 32 | digits(&of_b) << 16 | digits(&of_a);
    let dst = d.as_dst(&dst, U32, Width::Exact)?;
    let (a, b) = (d.as_operand(&a, U32, Width::Exact)?, d.as_operand(&b, U32, Width::Exact)?);
    let sources = [a, b, d.src(U32)?, Operand::Imm(selection)];
    Ok(Op::Quaternary { op: Quaternary::Quad { op, signed, then }, ty: U32, d: dst, sources })
}

/// Takes the selection behind a register: bytes of a source (up to 7), four of them, or lanes of the result (up to 3), each once and the
/// highest first.
fn selected(arg: &mut Arg<'_>, default: &str, highest: u64) -> Result<Vec<u64>> {
    let name = match &mut arg.kind {
        ArgKind::Name { member, .. } => member.take().unwrap_or(default),
        _ => default,
    };
    let digit = |c: char| c.to_digit(10).map(u64::from).filter(|digit| *digit <= highest);
    let digits: Option<Vec<u64>> = name.strip_prefix('b').and_then(|digits| digits.chars().map(digit).collect());
    let falls = |digits: &[u64]| !digits.is_empty() && digits.windows(2).all(|pair| pair[0] > pair[1]);
    match digits {
        Some(digits) if if highest == 3 { falls(&digits) } else { digits.len() == 4 } => Ok(digits),
        _ => Err(Diagnostic::error(arg.span, format!("`.{name}` selects no bytes; `.{default}` does")).into()),
    }
}

impl Decoder<'_, '_> {
    /// `op d, a`
    pub(super) fn unary(&mut self, op: Unary, ty: ScalarType, mode: Mode) -> Result<Op> {
        let types = op.types(ty);
        Ok(Op::Unary { op, ty, mode, d: self.dst(types[0])?, a: self.src(types[1])? })
    }

    /// `op d, a, b`
    pub(super) fn binary(&mut self, op: Binary, ty: ScalarType, mode: Mode) -> Result<Op> {
        let types = op.types(ty);
        Ok(Op::Binary { op, ty, mode, d: self.dst(types[0])?, a: self.src(types[1])?, b: self.src(types[2])? })
    }

    /// `op d, a, b, c`
    pub(super) fn ternary(&mut self, op: Ternary, ty: ScalarType, mode: Mode) -> Result<Op> {
        let types = op.types(ty);
        let (d, a) = (self.dst(types[0])?, self.src(types[1])?);
        Ok(Op::Ternary { op, ty, mode, d, a, b: self.src(types[2])?, c: self.src(types[3])? })
    }

    /// `op d, a, b, c, e`
    pub(super) fn quaternary(&mut self, op: Quaternary, ty: ScalarType) -> Result<Op> {
        let types = op.types(ty);
        let d = self.dst(types[0])?;
        let sources = [self.src(types[1])?, self.src(types[2])?, self.src(types[3])?, self.src(types[4])?];
        Ok(Op::Quaternary { op, ty, d, sources })
    }
}
