//! f16 and bf16 arithmetic (PTX ISA 9.7.4): each operation rounds once.
//!
//! * Sums and products are computed in f32 and rounded to the 16-bit format. Products of f16 are exact
//!   in f32. Otherwise f32's 24 bits are at least 2p + 2 for p = 11 and p = 8, which makes the double
//!   rounding of a sum or product the same as a single one (Figueroa 1995); f32 subnormals, which
//!   only bf16 meets, still hold 16 bits below bf16's last place.
//! * `fma` computes in f64, where the product is exact, and rounds the sum to odd: with more than two
//!   spare bits nothing of the exact result's position relative to a tie is lost.
//!
//! A NaN result is 0x7fff in both formats.

use super::single;

/// The NaN that 16-bit instructions produce.
pub const NAN: u16 = 0x7fff;

/// One of the two 16-bit formats.
pub trait Half: Copy {
    /// The bits of infinity.
    const INFINITY: u16;
    const ONE: u16;
    /// To nearest even and to the format's precision, whatever the exponent, every lesser magnitude rounds to a subnormal: half of the
    /// last place of what is below the smallest normal number, see `single`.
    const TINY: f32;
    fn widen(x: u16) -> f32;
    /// To nearest even; NaN becomes 0x7fff.
    fn narrow(x: f32) -> u16;
    /// Cuts off the bits beyond the mantissa; what the exponent cannot hold is infinite, NaN becomes 0x7fff.
    fn truncate(x: f32) -> u16;
}

#[derive(Clone, Copy, Debug)]
pub struct F16;
#[derive(Clone, Copy, Debug)]
pub struct Bf16;

impl Half for F16 {
    const INFINITY: u16 = 0x7c00;
    const ONE: u16 = 0x3c00;
    const TINY: f32 = f32::from_bits(0x3880_0000) * (1.0 - f32::EPSILON * 2048.0);

    #[inline(always)]
    fn widen(x: u16) -> f32 {
        let sign = u32::from(x & 0x8000) << 16;
        let magnitude = u32::from(x & 0x7fff);
        // Scaling by 2^112 moves the exponent's bias and makes subnormals normal.
        let scaled = f32::from_bits(magnitude << 13) * f32::from_bits(0x7780_0000);
        let special = magnitude << 13 | 0x7f80_0000;
        f32::from_bits(sign | if magnitude >= 0x7c00 { special } else { scaled.to_bits() })
    }

    #[inline(always)]
    fn narrow(x: f32) -> u16 {
        let bits = x.to_bits();
        let sign = (bits >> 16 & 0x8000) as u16;
        let magnitude = bits & 0x7fff_ffff;
        if magnitude > 0x7f80_0000 {
            return NAN;
        }
        // From 65520 on, the nearest number is infinity.
        if magnitude >= 0x477f_f000 {
            return sign | 0x7c00;
        }
        if magnitude < 0x3880_0000 {
            // Below 2^-14 the last place is 2^-24, which is that of 0.5 in f32: let the addition round.
            return sign | ((f32::from_bits(magnitude) + 0.5).to_bits() - 0x3f00_0000) as u16;
        }
        let rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
        sign | ((rounded >> 13) - (112 << 10)) as u16
    }

    #[inline(always)]
    fn truncate(x: f32) -> u16 {
        let sign = (x.to_bits() >> 16 & 0x8000) as u16;
        let magnitude = x.to_bits() & 0x7fff_ffff;
        if magnitude > 0x7f80_0000 {
            return NAN;
        }
        if magnitude >= 0x4780_0000 {
            return sign | 0x7c00;
        }
        if magnitude < 0x3880_0000 {
            // Below 2^-14 the last place is 2^-24; the conversion cuts off.
            return sign | (f32::from_bits(magnitude) * 16_777_216.0) as u16;
        }
        sign | ((magnitude >> 13) - (112 << 10)) as u16
    }
}

impl Half for Bf16 {
    const INFINITY: u16 = 0x7f80;
    const ONE: u16 = 0x3f80;
    // The 32 bits have 16 more places than the smallest normal number's last one.
    const TINY: f32 = f32::from_bits(0x0080_0000 - (1 << 14));

    #[inline(always)]
    fn widen(x: u16) -> f32 {
        f32::from_bits(u32::from(x) << 16)
    }

    #[inline(always)]
    fn narrow(x: f32) -> u16 {
        let bits = x.to_bits();
        if x.is_nan() { NAN } else { (bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16) as u16 }
    }

    #[inline(always)]
    fn truncate(x: f32) -> u16 {
        if x.is_nan() { NAN } else { (x.to_bits() >> 16) as u16 }
    }
}

#[inline(always)]
fn flush<T: Half, const FTZ: bool>(x: u16) -> u16 {
    if FTZ && x & T::INFINITY == 0 { x & 0x8000 } else { x }
}

#[inline(always)]
fn output<T: Half, const FTZ: bool, const SAT: bool>(x: f32) -> u16 {
    // Rounding first is the same: both bounds are numbers of the format.
    let x = if SAT { single::saturate(x) } else { x };
    let rounded = T::narrow(x);
    if FTZ && x.abs() < T::TINY { rounded & 0x8000 } else { rounded }
}

#[inline(always)]
fn input<T: Half, const FTZ: bool>(x: u16) -> f32 {
    T::widen(flush::<T, FTZ>(x))
}

#[inline(always)]
pub fn add<T: Half, const FTZ: bool, const SAT: bool>(a: u16, b: u16) -> u16 {
    output::<T, FTZ, SAT>(input::<T, FTZ>(a) + input::<T, FTZ>(b))
}

#[inline(always)]
pub fn sub<T: Half, const FTZ: bool, const SAT: bool>(a: u16, b: u16) -> u16 {
    output::<T, FTZ, SAT>(input::<T, FTZ>(a) - input::<T, FTZ>(b))
}

#[inline(always)]
pub fn mul<T: Half, const FTZ: bool, const SAT: bool>(a: u16, b: u16) -> u16 {
    output::<T, FTZ, SAT>(input::<T, FTZ>(a) * input::<T, FTZ>(b))
}

/// With `RELU`, negative results become +0.
#[inline(always)]
pub fn fma<T: Half, const FTZ: bool, const SAT: bool, const RELU: bool>(a: u16, b: u16, c: u16) -> u16 {
    let product = f64::from(input::<T, FTZ>(a)) * f64::from(input::<T, FTZ>(b));
    let result = output::<T, FTZ, SAT>(to_odd(odd_sum(product, f64::from(input::<T, FTZ>(c)))));
    if RELU { relu(result) } else { result }
}

/// Negative numbers and -0 become +0; NaN stays.
#[inline(always)]
pub fn relu(x: u16) -> u16 {
    if x & 0x8000 != 0 && x != 0xffff { 0 } else { x }
}

/// As in f32, NaN becomes canonical.
#[inline(always)]
pub fn neg<T: Half, const FTZ: bool>(x: u16) -> u16 {
    canonical::<T>(flush::<T, FTZ>(x) ^ 0x8000)
}

#[inline(always)]
pub fn abs<T: Half, const FTZ: bool>(x: u16) -> u16 {
    canonical::<T>(flush::<T, FTZ>(x) & 0x7fff)
}

#[inline(always)]
fn canonical<T: Half>(x: u16) -> u16 {
    if x & 0x7fff > T::INFINITY { NAN } else { x }
}

#[inline(always)]
pub fn min_max<T: Half, const MAX: bool, const FTZ: bool, const PROPAGATE: bool, const XORSIGN: bool>(
    a: u16,
    b: u16,
) -> u16 {
    T::narrow(single::min_max::<MAX, false, PROPAGATE, XORSIGN>(input::<T, FTZ>(a), input::<T, FTZ>(b)))
}

/// Applies a function to the low half of a register and, if `PACKED`, to the upper half too.
#[inline(always)]
pub fn each1<const PACKED: bool>(a: u64, f: impl Fn(u16) -> u16) -> u64 {
    let upper = if PACKED { f((a >> 16) as u16) } else { 0 };
    u64::from(f(a as u16)) | u64::from(upper) << 16
}

#[inline(always)]
pub fn each2<const PACKED: bool>(a: u64, b: u64, f: impl Fn(u16, u16) -> u16) -> u64 {
    let upper = if PACKED { f((a >> 16) as u16, (b >> 16) as u16) } else { 0 };
    u64::from(f(a as u16, b as u16)) | u64::from(upper) << 16
}

#[inline(always)]
pub fn each3<const PACKED: bool>(a: u64, b: u64, c: u64, f: impl Fn(u16, u16, u16) -> u16) -> u64 {
    let upper = if PACKED { f((a >> 16) as u16, (b >> 16) as u16, (c >> 16) as u16) } else { 0 };
    u64::from(f(a as u16, b as u16, c as u16)) | u64::from(upper) << 16
}

/// An f64 as f32, rounded to odd: of the two neighbours of an inexact value, that with an odd last bit.
#[inline(always)]
pub fn to_odd(x: f64) -> f32 {
    let near = x as f32;
    if f64::from(near) == x || x.is_nan() {
        return near;
    }
    let beyond = f64::from(near).abs() > x.abs();
    f32::from_bits((near.to_bits() - u32::from(beyond)) | 1)
}

/// a + b, rounded to odd.
#[inline(always)]
pub fn odd_sum(a: f64, b: f64) -> f64 {
    let sum = a + b;
    // Two-sum (Knuth): what the sum rounded away.
    let b_part = sum - a;
    let error = (a - (sum - b_part)) + (b - b_part);
    let bits = sum.to_bits();
    if !sum.is_finite() || error == 0.0 || bits & 1 == 1 {
        return sum;
    }
    let away = (error > 0.0) == (sum > 0.0);
    f64::from_bits(if away { bits + 1 } else { bits - 1 })
}
