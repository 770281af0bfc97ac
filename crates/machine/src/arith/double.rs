//! f64 arithmetic (PTX ISA 9.7.3). Subnormals are always kept.
//!
//! The manual leaves f64 NaN payloads open. Here they are those of an H200: the second operand's if that is a NaN, else the
//! third's, else the first's (for a division the first's come first), made quiet; and an invalid operation gives 0xfff8000000000000, CUDA's `CUDART_NAN`. Nothing depends on
//! the host.

use super::round::{self, Format, RN};

pub const NAN: f64 = f64::from_bits(0xfff8_0000_0000_0000);
const QUIET: u64 = 0x0008_0000_0000_0000;

/// `result`, or by the NaN rule one of the operands, which are in the order of that rule.
#[inline(always)]
fn finish(result: f64, operands: &[f64]) -> f64 {
    // Told apart by bits, see `single::canonical`.
    if result.to_bits() & !(1 << 63) <= 0x7ff0_0000_0000_0000 {
        return result;
    }
    operands.iter().find(|x| x.is_nan()).map_or(NAN, |x| f64::from_bits(x.to_bits() | QUIET))
}

#[inline(always)]
pub fn add<const R: u8>(a: f64, b: f64) -> f64 {
    finish(if R == RN { a + b } else { from(round::add(Format::F64, R, bits(a), bits(b))) }, &[b, a])
}

#[inline(always)]
pub fn sub<const R: u8>(a: f64, b: f64) -> f64 {
    finish(if R == RN { a - b } else { from(round::add(Format::F64, R, bits(a), bits(-b))) }, &[b, a])
}

#[inline(always)]
pub fn mul<const R: u8>(a: f64, b: f64) -> f64 {
    finish(if R == RN { a * b } else { from(round::mul(Format::F64, R, bits(a), bits(b))) }, &[b, a])
}

#[inline(always)]
pub fn fma<const R: u8>(a: f64, b: f64, c: f64) -> f64 {
    let result = if R == RN { a.mul_add(b, c) } else { from(round::fma(Format::F64, R, bits(a), bits(b), bits(c))) };
    finish(result, &[b, c, a])
}

#[inline(always)]
pub fn div<const R: u8>(a: f64, b: f64) -> f64 {
    finish(if R == RN { a / b } else { from(round::div(Format::F64, R, bits(a), bits(b))) }, &[a, b])
}

#[inline(always)]
pub fn rcp<const R: u8>(a: f64) -> f64 {
    div::<R>(1.0, a)
}

#[inline(always)]
pub fn sqrt<const R: u8>(a: f64) -> f64 {
    finish(if R == RN { a.sqrt() } else { from(round::sqrt(Format::F64, R, bits(a))) }, &[a])
}

/// A sum with zero to hardware, so that a NaN keeps its sign and becomes quiet.
#[inline(always)]
pub fn abs(a: f64) -> f64 {
    finish(if a.is_nan() { a } else { a.abs() }, &[a])
}

/// As [`abs`].
#[inline(always)]
pub fn neg(a: f64) -> f64 {
    finish(if a.is_nan() { a } else { -a }, &[a])
}

/// A number beats NaN; -0 is less than +0.
#[inline(always)]
pub fn min_max<const MAX: bool>(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        return if a.is_nan() { finish(b, &[b]) } else { a };
    }
    if a == b {
        return f64::from_bits(if MAX { a.to_bits() & b.to_bits() } else { a.to_bits() | b.to_bits() });
    }
    if (a < b) != MAX { a } else { b }
}

/// Rounds to the nearest integral value, ties to even, keeping the sign of zero.
#[inline(always)]
pub fn round_nearest(x: f64) -> f64 {
    let magic = 4_503_599_627_370_496f64.copysign(x);
    if x.abs() < 4_503_599_627_370_496.0 { ((x + magic) - magic).copysign(x) } else { x }
}

/// Rounds to an integral value in the direction `R`.
#[inline(always)]
pub fn round_integral<const R: u8>(x: f64) -> f64 {
    let nearest = round_nearest(x);
    let down = |x: f64| if nearest > x { (nearest - 1.0).copysign(x) } else { nearest };
    let up = |x: f64| if nearest < x { (nearest + 1.0).copysign(x) } else { nearest };
    match R {
        round::RM => down(x),
        round::RP => up(x),
        round::RZ => {
            if x > 0.0 {
                down(x)
            } else {
                up(x)
            }
        }
        _ => nearest,
    }
}

#[inline(always)]
pub fn bits(x: f64) -> u64 {
    x.to_bits()
}

#[inline(always)]
pub fn from(bits: u64) -> f64 {
    f64::from_bits(bits)
}
