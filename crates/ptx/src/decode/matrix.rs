//! Matrices of a warp: `ldmatrix`, `stmatrix`, `movmatrix`, `mma` and `wmma` (PTX ISA 9.7.14).

use super::operands::Width;
use super::{Decoder, Result};
use crate::ast::{Dst, Fragment, MatrixType, Mma, MmaOp, Op, Operand, Part, ScalarType, Shape, Space};
use MatrixType::*;

pub(super) const OPCODES: &[&str] = &["ldmatrix", "stmatrix", "movmatrix", "mma", "wmma"];

/// Products that exist: shape, types of A and B, types of C and D, and the first target.
type Form = ([u32; 3], &'static [MatrixType], &'static [MatrixType], u32);

const FP8: &[MatrixType] = &[E4m3, E5m2];
const BYTES: &[MatrixType] = &[S8, U8];
const NIBBLES: &[MatrixType] = &[S4, U4];
const HALVES: &[MatrixType] = &[F16, F32];

/// Of `mma`. The types of A and B may differ among those of a row.
const MMA: &[Form] = &[
    ([16, 8, 8], &[F16], HALVES, 75),
    ([16, 8, 16], &[F16], HALVES, 80),
    ([16, 8, 8], &[Bf16], &[F32], 80),
    ([16, 8, 16], &[Bf16], &[F32], 80),
    ([16, 8, 4], &[Tf32], &[F32], 80),
    ([16, 8, 8], &[Tf32], &[F32], 80),
    ([16, 8, 16], FP8, HALVES, 89),
    ([16, 8, 32], FP8, HALVES, 89),
    ([8, 8, 4], &[F64], &[F64], 80),
    ([16, 8, 4], &[F64], &[F64], 90),
    ([16, 8, 8], &[F64], &[F64], 90),
    ([16, 8, 16], &[F64], &[F64], 90),
    ([8, 8, 16], BYTES, &[S32], 75),
    ([16, 8, 16], BYTES, &[S32], 80),
    ([16, 8, 32], BYTES, &[S32], 80),
    ([8, 8, 32], NIBBLES, &[S32], 75),
    ([16, 8, 32], NIBBLES, &[S32], 80),
    ([16, 8, 64], NIBBLES, &[S32], 80),
    ([8, 8, 128], &[B1], &[S32], 75),
    ([16, 8, 128], &[B1], &[S32], 80),
    ([16, 8, 256], &[B1], &[S32], 80),
];

/// Of `wmma`, where A and B have one type.
const WMMA: &[Form] = &[
    ([16, 16, 16], &[F16], HALVES, 70),
    ([32, 8, 16], &[F16], HALVES, 70),
    ([8, 32, 16], &[F16], HALVES, 70),
    ([16, 16, 16], &[Bf16], &[F32], 80),
    ([32, 8, 16], &[Bf16], &[F32], 80),
    ([8, 32, 16], &[Bf16], &[F32], 80),
    ([16, 16, 8], &[Tf32], &[F32], 80),
    ([8, 8, 4], &[F64], &[F64], 80),
    ([16, 16, 16], BYTES, &[S32], 72),
    ([32, 8, 16], BYTES, &[S32], 72),
    ([8, 32, 16], BYTES, &[S32], 72),
    ([8, 8, 32], NIBBLES, &[S32], 75),
    ([8, 8, 128], &[B1], &[S32], 75),
];

pub(super) fn decode(d: &mut Decoder<'_, '_>) -> Result<Op> {
    if d.find(|name| name.starts_with("sp").then_some(())).is_some() {
        d.ignore_modifiers();
        d.ignore_operands();
        return d.unsupported(
            "products with a sparse matrix are not emulated: use `mma` without `.sp`, on the whole matrix",
        );
    }
    if !(d.flag("sync") && d.flag("aligned")) {
        d.ignore_modifiers();
        return d.incomplete(format!("`{}` exists only with `.sync.aligned`", d.opcode));
    }
    match d.opcode {
        "ldmatrix" | "stmatrix" => rows(d),
        "movmatrix" => {
            eight_by_eight(d)?;
            if !d.flag("trans") {
                return d.incomplete("`movmatrix` needs `.trans`");
            }
            needs(d, 75, d.opcode)?;
            Ok(Op::MoveMatrix { d: d.dst(ScalarType::B32)?, a: d.src(ScalarType::B32)? })
        }
        "mma" => mma(d),
        _ => wmma(d),
    }
}

/// `.m8n8` and `.b16`.
fn eight_by_eight(d: &mut Decoder<'_, '_>) -> Result<()> {
    if !d.flag("m8n8") || !d.flag("b16") {
        return d.unsupported(format!("`{}` is emulated for `.m8n8` with `.b16`", d.opcode));
    }
    Ok(())
}

/// The assembler refuses what the module's target does not have. Asked last: modifiers that are left over make an instruction unsupported.
fn needs(d: &Decoder<'_, '_>, sm: u32, what: &str) -> Result<()> {
    match d.module.sm {
        0 => Ok(()),
        target if target >= sm => Ok(()),
        target => {
            d.invalid(format!("`{what}` requires `.target sm_{sm}` or higher, and the module's is `sm_{target}`"))
        }
    }
}

fn rows(d: &mut Decoder<'_, '_>) -> Result<Op> {
    let stores = d.opcode == "stmatrix";
    eight_by_eight(d)?;
    let number = d.find(|name| match name {
        "x1" => Some(1),
        "x2" => Some(2),
        "x4" => Some(4),
        _ => None,
    });
    let Some(number) = number else {
        return d.incomplete(format!("`{}` needs `.x1`, `.x2` or `.x4`", d.opcode));
    };
    let transposed = d.flag("trans");
    let mut space = d.space().unwrap_or(Space::Generic);
    if !matches!(space, Space::Shared | Space::Generic) {
        return d.invalid(format!("`{}` is for `.shared` memory", d.opcode));
    }
    needs(d, if stores { 90 } else { 75 }, d.opcode)?;
    if stores {
        let addr = d.address(&mut space)?;
        let a = sources(d, number, ScalarType::B32)?;
        return Ok(Op::StoreMatrix { transposed, space, addr, a });
    }
    let targets = targets(d, number, ScalarType::B32)?;
    let addr = d.address(&mut space)?;
    Ok(Op::LoadMatrix { transposed, space, d: targets, addr })
}

pub(super) fn targets(d: &mut Decoder<'_, '_>, number: usize, ty: ScalarType) -> Result<Vec<Dst>> {
    let args = d.vector(number)?;
    args.iter().map(|arg| d.as_dst(arg, ty, Width::Exact)).collect()
}

pub(super) fn sources(d: &mut Decoder<'_, '_>, number: usize, ty: ScalarType) -> Result<Vec<Operand>> {
    let args = d.vector(number)?;
    args.iter().map(|arg| d.as_operand(arg, ty, Width::Exact)).collect()
}

/// The registers that hold a matrix of such elements.
pub(super) fn register(ty: MatrixType) -> ScalarType {
    match ty {
        F32 => ScalarType::F32,
        F64 => ScalarType::F64,
        _ => ScalarType::B32,
    }
}

pub(super) fn shape(d: &mut Decoder<'_, '_>) -> Result<Shape> {
    let found = d.find(|name| {
        let (m, rest) = name.strip_prefix('m')?.split_once('n')?;
        let (n, k) = rest.split_once('k')?;
        Some(Shape { m: m.parse().ok()?, n: n.parse().ok()?, k: k.parse().ok()? })
    });
    match found {
        Some(shape) => Ok(shape),
        None => d.incomplete(format!("`{}` needs a shape, such as `.m16n8k16`", d.opcode)),
    }
}

/// `.row` or `.col`; whether it is the former.
fn is_by_rows(d: &mut Decoder<'_, '_>) -> Result<bool> {
    let found = d.find(|name| match name {
        "row" => Some(true),
        "col" => Some(false),
        _ => None,
    });
    match found {
        Some(by_rows) => Ok(by_rows),
        None => d.incomplete(format!("`{}` needs `.row` or `.col` here", d.opcode)),
    }
}

pub(super) fn ty(d: &mut Decoder<'_, '_>) -> Result<MatrixType> {
    match d.find(MatrixType::from_name) {
        Some(ty) => Ok(ty),
        None => d.incomplete(format!("`{}` needs a type here, such as `.f16`", d.opcode)),
    }
}

/// What is done with bits, and whether integers saturate.
fn operation(d: &mut Decoder<'_, '_>) -> (MmaOp, bool) {
    let op = match d.flag("popc") {
        true if d.flag("xor") => MmaOp::XorPopc,
        true if d.flag("and") => MmaOp::AndPopc,
        _ => MmaOp::MultiplyAdd,
    };
    (op, d.flag("satfinite"))
}

/// Looks the form up.
fn check(d: &Decoder<'_, '_>, forms: &[Form], mma: &Mma) -> Result<()> {
    let Shape { m, n, k } = mma.shape;
    let written = format!(
        "{} with m{m}n{n}k{k}, `.{}` for D, `.{}` for A, `.{}` for B and `.{}` for C",
        d.opcode,
        mma.d.name(),
        mma.a.name(),
        mma.b.name(),
        mma.c.name()
    );
    let form = forms.iter().find(|(shape, factors, sums, _)| {
        *shape == [m, n, k]
            && factors.contains(&mma.a)
            && factors.contains(&mma.b)
            && sums.contains(&mma.c)
            && sums.contains(&mma.d)
    });
    let same = if mma.wmma { mma.a == mma.b } else { mma.c == mma.d };
    let bits = (mma.a == B1) == (mma.op != MmaOp::MultiplyAdd);
    let saturates = !mma.satfinite || mma.a.is_integer() && mma.a != B1;
    let Some((.., sm)) = form.filter(|_| same && bits && saturates) else {
        return d.invalid(format!("there is no {written}"));
    };
    let sm = if mma.op == MmaOp::AndPopc { 80 } else { *sm };
    needs(d, sm, &written)
}

fn mma(d: &mut Decoder<'_, '_>) -> Result<Op> {
    let shape = shape(d)?;
    let (a_by_rows, b_by_rows) = (is_by_rows(d)?, is_by_rows(d)?);
    let (td, ta, tb, tc) = (ty(d)?, ty(d)?, ty(d)?, ty(d)?);
    let (op, satfinite) = operation(d);
    let mma = Mma { shape, a: ta, b: tb, c: tc, d: td, op, satfinite, wmma: false };
    if shape == (Shape { m: 8, n: 8, k: 4 }) && ta == F16 {
        d.ignore_operands();
        return d.unsupported("`mma.m8n8k4` with `.f16` is that of compute capability 7.0: use `.m16n8k8`");
    }
    check(d, MMA, &mma)?;
    if !a_by_rows || b_by_rows {
        return d.invalid("`mma` of this shape is `.row.col`");
    }
    operands(d, mma)
}

fn operands(d: &mut Decoder<'_, '_>, mma: Mma) -> Result<Op> {
    let results = targets(d, mma.d().registers(), register(mma.d))?;
    let a = sources(d, mma.a().registers(), register(mma.a))?;
    let b = sources(d, mma.b().registers(), register(mma.b))?;
    let c = sources(d, mma.c().registers(), register(mma.c))?;
    Ok(Op::Mma { mma, d: results, a, b, c })
}

fn wmma(d: &mut Decoder<'_, '_>) -> Result<Op> {
    if d.flag("mma") {
        let (op, satfinite) = operation(d);
        // How A and B lay in memory tells nothing here.
        is_by_rows(d)?;
        is_by_rows(d)?;
        let shape = shape(d)?;
        let types: Vec<MatrixType> = std::iter::from_fn(|| d.find(MatrixType::from_name)).collect();
        let (td, ta, tb, tc) = match types[..] {
            [td, ta, tb, tc] => (td, ta, tb, tc),
            // Of f16 only the sums are named.
            [td, tc] => (td, F16, F16, tc),
            _ => return d.incomplete("`wmma.mma` needs the types of its matrices, such as `.f32.f32`"),
        };
        let mma = Mma { shape, a: ta, b: tb, c: tc, d: td, op, satfinite, wmma: true };
        check(d, WMMA, &mma)?;
        return operands(d, mma);
    }
    let stores = d.flag("store");
    if !stores && !d.flag("load") {
        return d.incomplete("`wmma` needs `.load`, `.store` or `.mma`");
    }
    let part = d.find(|name| {
        Some(match name {
            "a" if !stores => Part::A,
            "b" if !stores => Part::B,
            "c" if !stores => Part::Sum,
            "d" if stores => Part::Sum,
            _ => return None,
        })
    });
    let Some(part) = part else {
        return d.incomplete(format!("`wmma` needs {} here", if stores { "`.d`" } else { "`.a`, `.b` or `.c`" }));
    };
    let by_rows = is_by_rows(d)?;
    let shape = shape(d)?;
    let mut space = d.space().unwrap_or(Space::Generic);
    let ty = ty(d)?;
    let Shape { m, n, k } = shape;
    let form = WMMA.iter().find(|(known, factors, sums, _)| {
        *known == [m, n, k] && if part == Part::Sum { sums.contains(&ty) } else { factors.contains(&ty) }
    });
    let Some((.., sm)) = form else {
        return d.invalid(format!("there is no `wmma` with m{m}n{n}k{k} and a matrix of `.{}`", ty.name()));
    };
    needs(d, *sm, d.opcode)?;
    if !matches!(space, Space::Generic | Space::Global | Space::Shared) {
        return d.invalid("`wmma` is for `.global` and `.shared` memory");
    }
    let fragment = Fragment::of(part, shape, ty, true);
    if ty.bits() < 8 && by_rows != (part == Part::A) {
        return d.invalid("matrices of less than 8 bits are `.row` for A and `.col` for B");
    }
    if stores {
        let addr = d.address(&mut space)?;
        let a = sources(d, fragment.registers(), register(ty))?;
        let stride = stride(d)?;
        return Ok(Op::WmmaStore { fragment, by_rows, space, addr, a, stride });
    }
    let results = targets(d, fragment.registers(), register(ty))?;
    let addr = d.address(&mut space)?;
    let stride = stride(d)?;
    Ok(Op::WmmaLoad { fragment, by_rows, space, d: results, addr, stride })
}

/// Elements from one row, or column, to the next; without it they lie side by side.
fn stride(d: &mut Decoder<'_, '_>) -> Result<Option<Operand>> {
    if d.remaining() == 0 { Ok(None) } else { Ok(Some(d.src(ScalarType::U32)?)) }
}
