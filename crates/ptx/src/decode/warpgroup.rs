//! Products of a warp group, and what its warps tell the asynchronous proxy (PTX ISA 9.7.15); `setmaxnreg` (9.7.19.5).

use super::matrix::{register, shape, sources, ty};
use super::operands::Width;
use super::{Decoder, Result};
use crate::ast::{MatrixType, Op, Operand, ScalarType, WarpgroupOp, Wgmma};
use crate::parser::ArgKind;
use MatrixType::*;

pub(super) const OPCODES: &[&str] = &["wgmma", "setmaxnreg"];

/// Types of A and B, which may differ among those of a row, types of D, and whether the elements of a factor may lie by
/// the other dimension.
type Form = (&'static [MatrixType], &'static [MatrixType], bool);

const FORMS: &[Form] = &[
    (&[F16], &[F16, F32], true),
    (&[Bf16], &[F32], true),
    (&[Tf32], &[F32], false),
    (&[E4m3, E5m2], &[F16, F32], false),
    (&[S8, U8], &[S32], false),
];

pub(super) fn decode(d: &mut Decoder<'_, '_>) -> Result<Op> {
    if d.flag("sp") {
        d.ignore_modifiers();
        d.ignore_operands();
        return d.unsupported(
            "products with a sparse matrix are not emulated: use `wgmma` without `.sp`, on the whole matrix",
        );
    }
    if !(d.flag("sync") && d.flag("aligned")) {
        d.ignore_modifiers();
        return d.incomplete(format!("`{}` exists only with `.sync.aligned`", d.opcode));
    }
    if d.opcode == "setmaxnreg" {
        return registers(d);
    }
    if d.flag("fence") {
        needs_target(d)?;
        return Ok(Op::Warpgroup(WarpgroupOp::Fence));
    }
    if d.flag("commit_group") {
        needs_target(d)?;
        return Ok(Op::Warpgroup(WarpgroupOp::Commit));
    }
    if d.flag("wait_group") {
        needs_target(d)?;
        return Ok(Op::Warpgroup(WarpgroupOp::Wait(d.constant()?)));
    }
    if !d.flag("mma_async") {
        return d.incomplete("`wgmma` needs `.mma_async`, `.fence`, `.commit_group` or `.wait_group`");
    }
    product(d)
}

/// What later devices do not have either: the suffix `a` says that a module is for 9.0 and no other.
fn needs_target(d: &Decoder<'_, '_>) -> Result<()> {
    let has_suffix = d.module.target.ends_with('a') && d.module.sm == 90;
    if d.module.sm == 0 || has_suffix || d.opcode == "setmaxnreg" && d.module.target.ends_with(['a', 'f']) {
        return Ok(());
    }
    d.invalid(format!("`{}` requires `.target sm_90a`, and the module's is `{}`", d.opcode, d.module.target))
}

/// Columns of B and D: by eights, and beyond 32 by 16 where the elements are integers.
fn has_columns(ty: MatrixType, n: u32) -> bool {
    match ty.is_integer() {
        true => [8, 24].contains(&n) || (16..=256).contains(&n) && n.is_multiple_of(16),
        false => (8..=256).contains(&n) && n.is_multiple_of(8),
    }
}

fn product(d: &mut Decoder<'_, '_>) -> Result<Op> {
    let shape = shape(d)?;
    let (sum, a, b) = (ty(d)?, ty(d)?, ty(d)?);
    if a == B1 {
        d.ignore_modifiers();
        d.ignore_operands();
        return d.unsupported("products of single bits by `wgmma` are not emulated");
    }
    let satfinite = d.flag("satfinite");
    let form =
        FORMS.iter().find(|(factors, sums, _)| [a, b].iter().all(|ty| factors.contains(ty)) && sums.contains(&sum));
    let fits = shape.m == 64 && shape.k * a.bits() == 256 && has_columns(a, shape.n) && (!satfinite || a.is_integer());
    let Some((.., may_transpose)) = form.filter(|_| fits) else {
        return d.invalid(format!(
            "there is no wgmma with m{}n{}k{}, `.{}` for D, `.{}` for A and `.{}` for B",
            shape.m,
            shape.n,
            shape.k,
            sum.name(),
            a.name(),
            b.name()
        ));
    };
    needs_target(d)?;
    let mut form =
        Wgmma { n: shape.n, a, b, d: sum, satfinite, negated: false, a_transposed: false, b_transposed: false };
    let parts = d.vector(form.d().registers())?;
    let of = register(sum);
    let results = parts.iter().map(|arg| d.as_dst(arg, of, Width::Exact)).collect::<Result<_>>()?;
    let c = parts.iter().map(|arg| d.as_operand(arg, of, Width::Exact)).collect::<Result<_>>()?;
    let in_registers = d.args.as_slice().first().is_some_and(|arg| matches!(arg.kind, ArgKind::Vector(_)));
    let (held, a_at) = match in_registers {
        true => (sources(d, form.a().registers(), register(a))?, None),
        false => (Vec::new(), Some(d.src(ScalarType::B64)?)),
    };
    let b_at = d.src(ScalarType::B64)?;
    let add = d.pred()?;
    if !a.is_integer() {
        form.negated = (one_of(d, [-1, 1])? == -1) != (one_of(d, [-1, 1])? == -1);
    }
    if *may_transpose {
        form.a_transposed = !in_registers && one_of(d, [0, 1])? == 1;
        form.b_transposed = one_of(d, [0, 1])? == 1;
    }
    Ok(Op::Wgmma { form, d: results, c, a: held, a_at, b_at, add })
}

/// A constant of two that there are.
fn one_of(d: &mut Decoder<'_, '_>, known: [i32; 2]) -> Result<i32> {
    match d.src(ScalarType::S32)? {
        Operand::Imm(bits) if known.contains(&(bits as u32 as i32)) => Ok(bits as u32 as i32),
        _ => {
            d.invalid(format!("the constants {} or {} must stand behind the predicate of `wgmma`", known[0], known[1]))
        }
    }
}

/// `setmaxnreg.inc` and `.dec`.
fn registers(d: &mut Decoder<'_, '_>) -> Result<Op> {
    if !d.flag("inc") && !d.flag("dec") {
        return d.incomplete("`setmaxnreg` needs `.inc` or `.dec`");
    }
    d.ty_of(&[ScalarType::U32])?;
    needs_target(d)?;
    let number = d.constant()?;
    if !(24..=256).contains(&number) || !number.is_multiple_of(8) {
        return d.invalid(format!("`setmaxnreg` is for 24 to 256 registers, a multiple of 8, and not for {number}"));
    }
    Ok(Op::SetMaxRegisters(number))
}
