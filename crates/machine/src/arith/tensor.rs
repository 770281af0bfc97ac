//! Products of matrices as tensor cores compute them.
//!
//! No document of the vendor's says how floats are added. What is modelled here was found with crafted inputs by Fasi, Higham, Mikaitis and Pranesh
//! ("Numerical behavior of NVIDIA tensor cores", 2021), by Xie, Wang, Yang and Yang ("MMA-Sim", arXiv 2511.10909, 2025) and by Khattak and Mikaitis
//! ("Accurate models of NVIDIA tensor cores", arXiv 2512.07004, 2025):
//!
//! - Products are exact. So many of them and the sum so far are added at once ([`Adder::products`]).
//! - Each addend is shifted to the largest exponent among them, and what is then below so many bits ([`Adder::fraction`]) is cut off. The exponent of a
//!   product is that of its factors together, so that a product may lie between 1 and 4. Zeros have none.
//! - The addends are summed exactly. The sum is rounded towards zero to f32, and to nearest to f16.
//! - f64 is a chain of fused multiply-adds, in the order of k.
//! - What has tensor cores for 8-bit floats by `wgmma` or `tcgen05` alone (9.0 to 11.0) has no instruction for their `mma`. The assembler makes halves
//!   of the bytes, two products of halves (of the lower and the upper two bytes of each register) that begin at 0, and adds C after them ([`Adder::apart`]).
//!
//! - `wgmma` on 8-bit floats adds 32 products at once, with 13 bits below the largest exponent, and keeps 13 bits of a sum in f32.
//!
//! What is not known is assumed: a sum beyond f32 is infinite, and a sum of nothing but zeros is +0. `crates/conformance/ptx/matrix` holds the inputs that tell.

mod wide;

use fusion_ptx::ast::{MatrixType, Mma, MmaOp, Wgmma};
use pulp::Arch;

use super::round::{Exact, Format, RN, RZ};
use super::{double, half, single};

/// How floats are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adder {
    /// Products that are added at once.
    pub products: usize,
    /// Bits that an addend has below the place of the largest exponent.
    pub fraction: u32,
    /// Sums keep 13 bits behind the first, not 23.
    pub narrow: bool,
    /// The factors become f16, those with k % 4 below 2 come first, and C is added last, rounded to nearest.
    pub apart: bool,
}

impl Adder {
    /// Of a compute capability, for factors of a type, of which a product has `k`.
    pub fn of(compute: (u32, u32), ty: MatrixType, k: usize) -> Self {
        let is_byte = matches!(ty, MatrixType::E4m3 | MatrixType::E5m2);
        let (products, fraction, narrow) = match compute {
            (9..=11, _) if is_byte => ((k / 2).max(1), 25, false),
            // A group has 32 bytes of each factor.
            (9.., _) => (256 / ty.bits() as usize, 25, false),
            (8, _) if is_byte => (16, 13, true),
            // And here 16 bytes.
            _ => (128 / ty.bits() as usize, 24, false),
        };
        Self { products, fraction, narrow, apart: is_byte && matches!(compute.0, 9..=11) }
    }

    /// Of `wgmma`, which compute capability 9.0 alone has: all products of an element at once, those of 8-bit floats with 13 bits.
    pub fn of_warpgroup(ty: MatrixType) -> Self {
        let narrow = matches!(ty, MatrixType::E4m3 | MatrixType::E5m2);
        Self { products: 256 / ty.bits() as usize, fraction: if narrow { 13 } else { 25 }, narrow, apart: false }
    }
}

/// D = A * B + C of anything but what [`adder_of_floats`] has an adder for. A, C and D are given row by row, and B column by column.
pub(crate) fn multiply(mma: &Mma, compute: (u32, u32), [a, b, c]: [&[u64]; 3], d: &mut [u64]) {
    let (k, n) = (mma.shape.k as usize, mma.shape.n as usize);
    match mma.a {
        MatrixType::F64 => each(a, b, k, n, c, d, |a, b, c| {
            let sum = a
                .iter()
                .zip(b)
                .fold(double::from(c), |sum, (a, b)| double::fma::<RN>(double::from(*a), double::from(*b), sum));
            double::bits(sum)
        }),
        ty if ty.is_integer() => each(a, b, k, n, c, d, |a, b, c| {
            let pairs = a.iter().copied().zip(b.iter().copied());
            integers((mma.a, mma.b), mma.op, mma.satfinite, pairs, c as u32).into()
        }),
        ty => halves_of_bytes(mma, Adder::of(compute, ty, k), a, b, c, d),
    }
}

/// How a product's floats are added, where its elements have no more than 32 bits and are multiplied as they are: what [`multiply_floats`] does.
pub(crate) fn adder_of_floats(mma: &Mma, compute: (u32, u32)) -> Option<Adder> {
    let is_float = mma.a != MatrixType::F64 && !mma.a.is_integer();
    Some(Adder::of(compute, mma.a, mma.shape.k as usize)).filter(|adder| is_float && !adder.apart)
}

/// D = A * B + C of floats, given as for [`multiply`].
pub(crate) fn multiply_floats(arch: Arch, mma: &Mma, adder: Adder, [a, b, c]: [&[u32]; 3], d: &mut [u32]) {
    let Mma { shape, a: ty, b: of_b, c: of_c, d: of_d, .. } = *mma;
    let form =
        wide::Form { a: ty, b: of_b, c: of_c, d: of_d, k: shape.k as usize, n: shape.n as usize, negated: false };
    arch.dispatch(wide::Product { form, adder, a, b, c, d });
}

/// D = A * B + C of a warp of `wgmma`, which has 16 rows. A, C and D are given row by row, and B column by column.
pub(crate) fn multiply_of_warpgroup(arch: Arch, form: &Wgmma, a: &[u32], b: &[u32], c: &[u32], d: &mut [u32]) {
    let (k, n) = (form.k() as usize, form.n as usize);
    if !form.a.is_integer() {
        let adder = Adder::of_warpgroup(form.a);
        let form = wide::Form { a: form.a, b: form.b, c: form.d, d: form.d, k, n, negated: form.negated };
        return arch.dispatch(wide::Product { form, adder, a, b, c, d });
    }
    each(a, b, k, n, c, d, |x, y, c| {
        let pairs = x.iter().zip(y).map(|(x, y)| (u64::from(*x), u64::from(*y)));
        integers((form.a, form.b), MmaOp::MultiplyAdd, form.satfinite, pairs, c)
    });
}

/// Calls `f` with the row of A, the column of B and the element of C for each element of D.
#[inline(always)]
fn each<T, S: Copy>(a: &[T], b: &[T], k: usize, n: usize, c: &[S], d: &mut [S], f: impl Fn(&[T], &[T], S) -> S) {
    for (i, (d, c)) in d.iter_mut().zip(c).enumerate() {
        let (row, column) = (i / n * k, i % n * k);
        *d = f(&a[row..row + k], &b[column..column + k], *c);
    }
}

/// Exact sums of integers, and of single bits.
#[inline(always)]
fn integers(
    (a, b): (MatrixType, MatrixType),
    op: MmaOp,
    satfinite: bool,
    pairs: impl Iterator<Item = (u64, u64)>,
    c: u32,
) -> u32 {
    let extend = |ty: MatrixType, bits: u64| match ty.is_signed() {
        true => (bits << (64 - ty.bits())) as i64 >> (64 - ty.bits()),
        false => bits as i64,
    };
    let product = |(x, y): (u64, u64)| match op {
        MmaOp::MultiplyAdd => extend(a, x) * extend(b, y),
        MmaOp::XorPopc => (x ^ y) as i64,
        MmaOp::AndPopc => (x & y) as i64,
    };
    let sum = i64::from(c as i32) + pairs.map(product).sum::<i64>();
    let sum = if satfinite { sum.clamp(i32::MIN.into(), i32::MAX.into()) } else { sum };
    sum as u32
}

/// A number `significand * 2^(exponent - fraction)`, where the fraction's length is its format's. What is no number has a significand that no number has.
#[derive(Clone, Copy, Debug, Default)]
struct Term {
    significand: i32,
    exponent: i32,
}

/// Exponent of zero: far below that of any product.
const NOTHING: i32 = -4000;
const INFINITE: i32 = 1 << 30;
const NAN: i32 = i32::MAX;

impl Term {
    fn is_number(self) -> bool {
        self.significand.abs() < INFINITE
    }
}

/// Bits of a format's fraction, and of its exponent.
fn layout(ty: MatrixType) -> (u32, u32) {
    match ty {
        MatrixType::F16 => (10, 5),
        MatrixType::Bf16 => (7, 8),
        MatrixType::Tf32 => (10, 8),
        MatrixType::E4m3 => (3, 4),
        MatrixType::E5m2 => (2, 5),
        _ => (23, 8),
    }
}

#[inline(always)]
fn term(ty: MatrixType, bits: u64) -> Term {
    let (fraction, width) = layout(ty);
    // Of tf32, the lower bits of its register do not count.
    let bits = if ty == MatrixType::Tf32 { bits >> 13 } else { bits };
    let low = bits as i32 & ((1 << fraction) - 1);
    let field = (bits >> fraction) as i32 & ((1 << width) - 1);
    let sign = if bits >> (fraction + width) & 1 == 1 { -1 } else { 1 };
    let exponent = field.max(1) - ((1 << (width - 1)) - 1);
    let last = field == (1 << width) - 1;
    let significand = match (ty, field, low) {
        // No infinity, and one NaN.
        (MatrixType::E4m3, 15, 7) => NAN,
        (MatrixType::E4m3, 15, _) => low | 1 << fraction,
        (_, _, 0) if last => INFINITE,
        _ if last => NAN,
        (_, 0, 0) => return Term { significand: 0, exponent: NOTHING },
        (_, 0, _) => low,
        _ => low | 1 << fraction,
    };
    Term { significand: sign * significand, exponent }
}

/// An 8-bit float as the f16 that it becomes: none of e4m3 is subnormal there.
fn half_of_byte(ty: MatrixType, bits: u64) -> Term {
    let byte = match ty {
        MatrixType::E5m2 => return term(MatrixType::F16, bits << 8),
        _ => term(ty, bits),
    };
    if !byte.is_number() || byte.significand == 0 {
        return byte;
    }
    let (from, to) = (layout(ty).0 as i32, layout(MatrixType::F16).0 as i32);
    let up = to - byte.significand.unsigned_abs().ilog2() as i32;
    Term { significand: byte.significand << up, exponent: byte.exponent - (up - (to - from)) }
}

/// Those with k % 4 below 2 come first.
fn lower_bytes_first(row: &[u64]) -> impl Iterator<Item = &u64> {
    let part = |from: usize| row.chunks(4).flat_map(move |four| four.iter().skip(from).take(2));
    part(0).chain(part(2))
}

/// Products of 8-bit floats that become those of halves.
fn halves_of_bytes(mma: &Mma, adder: Adder, a: &[u64], b: &[u64], c: &[u64], d: &mut [u64]) {
    let (k, n) = (mma.shape.k as usize, mma.shape.n as usize);
    let decode = |ty: MatrixType, bits: &[u64]| -> Vec<Term> {
        bits.chunks(k).flat_map(lower_bytes_first).map(|bits| half_of_byte(ty, *bits)).collect()
    };
    let (x, y) = (decode(mma.a, a), decode(mma.b, b));
    let fraction = 2 * layout(MatrixType::F16).0;
    each(&x, &y, k, n, c, d, |x, y, c| {
        let mut sum = 0;
        for (x, y) in x.chunks(adder.products).zip(y.chunks(adder.products)) {
            sum = any(adder, x, y, fraction, (term(mma.d, sum), layout(mma.d).0), mma.d);
        }
        match mma.d {
            MatrixType::F16 => half::add::<half::F16, false, false>(sum as u16, c as u16).into(),
            _ => single::bits(single::add::<RN, false, false>(single::from(sum), single::from(c))),
        }
    });
}

/// The sum of one element.
fn any(adder: Adder, x: &[Term], y: &[Term], fraction: u32, c: (Term, u32), d: MatrixType) -> u64 {
    let numbers = x.iter().chain(y).all(|term| term.is_number()) && c.0.is_number();
    if numbers { add(adder, x, y, fraction, c, d) } else { special(adder, x, y, fraction, c, d) }
}

/// Numbers.
fn add(adder: Adder, x: &[Term], y: &[Term], fraction: u32, (c, c_fraction): (Term, u32), d: MatrixType) -> u64 {
    let pairs = || x.iter().zip(y);
    let largest = pairs().map(|(x, y)| x.exponent + y.exponent).fold(c.exponent, i32::max);
    let left = adder.fraction.saturating_sub(fraction);
    let cut = |significand: i32, exponent: i32| {
        let down = (largest - exponent).clamp(0, 31) as u32;
        let magnitude = (significand.unsigned_abs() << left) >> down;
        if significand < 0 { -(magnitude as i32) } else { magnitude as i32 }
    };
    let products: i64 =
        pairs().map(|(x, y)| i64::from(cut(x.significand * y.significand, x.exponent + y.exponent))).sum();
    round(adder, products + shifted(adder, c, c_fraction, largest), largest - adder.fraction as i32, d)
}

/// The sum so far as an addend: cut off below the bits that addends have under the largest exponent.
fn shifted(adder: Adder, c: Term, c_fraction: u32, largest: i32) -> i64 {
    let down = (i64::from(largest) - i64::from(c.exponent)).clamp(0, 40) as u32;
    let magnitude = (u64::from(c.significand.unsigned_abs()) << 32 >> (c_fraction + down)) >> (32 - adder.fraction);
    if c.significand < 0 { -(magnitude as i64) } else { magnitude as i64 }
}

fn round(adder: Adder, sum: i64, exponent: i32, d: MatrixType) -> u64 {
    let exact = Exact { negative: sum < 0, magnitude: sum.unsigned_abs().into(), exponent };
    if d == MatrixType::F16 {
        return exact.round(Format::F16, RN);
    }
    let leading = exponent + 63 - sum.unsigned_abs().leading_zeros() as i32;
    if sum != 0 && leading > 127 {
        return Format::F32.infinity() | u64::from(sum < 0) << 31;
    }
    match adder.narrow {
        true => exact.round(Format { precision: 14, width: 22, ..Format::F32 }, RZ) << 10,
        false => exact.round(Format::F32, RZ),
    }
}

/// Infinities and what is no number among them.
#[cold]
fn special(adder: Adder, x: &[Term], y: &[Term], fraction: u32, c: (Term, u32), d: MatrixType) -> u64 {
    let (nan, infinity, sign) = match d {
        MatrixType::F16 => (0x7fff, Format::F16.infinity(), 1 << 15),
        _ => (0x7fff_ffff, Format::F32.infinity(), 1 << 31),
    };
    let (mut positive, mut negative) = (false, false);
    let mut see = |minus: bool| if minus { negative = true } else { positive = true };
    let is_nan = |term: &Term| term.significand.abs() == NAN;
    for (x, y) in x.iter().zip(y) {
        let zero = x.significand == 0 || y.significand == 0;
        match x.is_number() && y.is_number() {
            true => {}
            false if is_nan(x) || is_nan(y) || zero => return nan,
            false => see((x.significand < 0) != (y.significand < 0)),
        }
    }
    match c.0.is_number() {
        true => {}
        false if is_nan(&c.0) => return nan,
        false => see(c.0.significand < 0),
    }
    match (positive, negative) {
        (true, true) => nan,
        (true, false) => infinity,
        (false, true) => infinity | sign,
        (false, false) => add(adder, x, y, fraction, c, d),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fusion_ptx::ast::MatrixType::{S8, S32, U8};

    #[test]
    fn integers_wrap_or_saturate() {
        let form = |satfinite| Wgmma {
            n: 8,
            a: U8,
            b: S8,
            d: S32,
            satfinite,
            negated: false,
            a_transposed: false,
            b_transposed: false,
        };
        let (a, b, c) = (vec![0xff; 16 * 32], vec![0x80; 32 * 8], vec![i32::MIN as u32; 16 * 8]);
        let mut d = vec![0; 16 * 8];
        multiply_of_warpgroup(Arch::new(), &form(true), &a, &b, &c, &mut d);
        assert!(d.iter().all(|d| *d == i32::MIN as u32));
        multiply_of_warpgroup(Arch::new(), &form(false), &a, &b, &c, &mut d);
        assert!(d.iter().all(|d| *d == (i32::MIN as u32).wrapping_sub(255 * 128 * 32)));
    }
}
