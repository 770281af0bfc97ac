//! Approximate functions (`.approx`, PTX ISA 9.7.3.13-22): computed in f64, rounded to f32.
//!
//! The manual bounds the error of each and leaves the bits open. Here every result is within 1e-10
//! relative (sine and cosine: absolute, for moderate angles) of the exact one before its rounding, so
//! within the bound, and the polynomials are ours, so that all hosts agree to the bit. Special values
//! are the manual's tables.

use super::double;
use super::round::RN;
use super::single::{NAN, canonical, flush, input};

/// 1 / a.
#[inline(always)]
pub fn rcp<const FTZ: bool>(a: f32) -> f32 {
    canonical(input::<FTZ>(1.0 / input::<FTZ>(a)))
}

#[inline(always)]
pub fn sqrt<const FTZ: bool>(a: f32) -> f32 {
    canonical(input::<FTZ>(a).sqrt())
}

/// 1 / sqrt(a); of -0 it is minus infinity.
#[inline(always)]
pub fn rsqrt<const FTZ: bool>(a: f32) -> f32 {
    let a = input::<FTZ>(a);
    if a == 0.0 {
        return f32::INFINITY.copysign(a);
    }
    canonical((1.0 / f64::from(a).sqrt()) as f32)
}

/// `div.approx`: a times the reciprocal of b, which for |b| above 2^126 is zero.
#[inline(always)]
pub fn div<const FTZ: bool>(a: f32, b: f32) -> f32 {
    let (a, b) = (input::<FTZ>(a), input::<FTZ>(b));
    let huge = b.abs() > f32::from_bits(0x7e80_0000) && b.is_finite();
    let quotient = if huge { a * 0f32.copysign(b) } else { a / b };
    canonical(input::<FTZ>(quotient))
}

/// `div.full`: 2 ulp over the full range.
#[inline(always)]
pub fn div_full<const FTZ: bool>(a: f32, b: f32) -> f32 {
    canonical(input::<FTZ>(input::<FTZ>(a) / input::<FTZ>(b)))
}

/// 2^a.
#[inline(always)]
pub fn ex2<const FTZ: bool>(a: f32) -> f32 {
    let a = input::<FTZ>(a);
    let power = input::<FTZ>(exp2(f64::from(a)) as f32);
    // Without a branch, so that a loop over lanes becomes vector instructions.
    f32::from_bits(if a.is_nan() { NAN.to_bits() } else { power.to_bits() })
}

/// log2(a): of zero minus infinity, of negatives NaN.
#[inline(always)]
pub fn lg2<const FTZ: bool>(a: f32) -> f32 {
    let a = input::<FTZ>(a);
    if a == 0.0 {
        return f32::NEG_INFINITY;
    }
    if a.is_nan() || a < 0.0 {
        return NAN;
    }
    if a == f32::INFINITY {
        return a;
    }
    input::<FTZ>(log2(f64::from(a)) as f32)
}

/// The sine of radians; of infinities NaN.
#[inline(always)]
pub fn sin<const FTZ: bool>(a: f32) -> f32 {
    let a = input::<FTZ>(a);
    // Keeps the sign of zero and is the sine of everything this small.
    if a.abs() < 1e-6 { a } else { trigonometric::<FTZ>(a, 0) }
}

#[inline(always)]
pub fn cos<const FTZ: bool>(a: f32) -> f32 {
    trigonometric::<FTZ>(input::<FTZ>(a), 1)
}

/// The hyperbolic tangent.
#[inline(always)]
pub fn tanh(a: f32) -> f32 {
    if a.is_nan() {
        return NAN;
    }
    let x = f64::from(a).abs();
    let magnitude = if x < 0.5 {
        // Lambert's continued fraction, cut where the next term is below 1e-10.
        let s = x * x;
        x * (945.0 + s * (105.0 + s)) / (945.0 + s * (420.0 + s * 15.0))
    } else {
        1.0 - 2.0 / (exp2(x * (2.0 * std::f64::consts::LOG2_E)) + 1.0)
    };
    (magnitude as f32).copysign(a)
}

/// `rcp.approx.ftz.f64`: 20 bits of mantissa, the lower word of the result zero.
pub fn rcp_f64(a: f64) -> f64 {
    upper_word(1.0 / flush_f64(a))
}

/// `rsqrt.approx.f64`, and with `FTZ` its 20-bit form.
pub fn rsqrt_f64<const FTZ: bool>(a: f64) -> f64 {
    let a = if FTZ { flush_f64(a) } else { a };
    if a == 0.0 {
        return f64::INFINITY.copysign(a);
    }
    let result = double::rcp::<RN>(double::sqrt::<RN>(a));
    if FTZ { upper_word(result) } else { result }
}

fn flush_f64(a: f64) -> f64 {
    if a.is_subnormal() { 0f64.copysign(a) } else { a }
}

/// Rounds to what the upper word of an f64 holds.
fn upper_word(x: f64) -> f64 {
    if x.is_nan() {
        return f64::from_bits(0x7fff_ffff_0000_0000);
    }
    let x = flush_f64(x);
    if x.is_infinite() { x } else { f64::from_bits((x.to_bits() + 0x8000_0000) & 0xffff_ffff_0000_0000) }
}

/// 2^x with a relative error below 1e-11; saturates where f32 has long been infinite or zero.
#[inline(always)]
fn exp2(x: f64) -> f64 {
    // The conversion's rounding is to nearest: 1.5 * 2^52 has units as its last place.
    const MAGIC: f64 = 6_755_399_441_055_744.0;
    let x = x.clamp(-1000.0, 1000.0);
    let shifted = x + MAGIC;
    let fraction = (x - (shifted - MAGIC)) * std::f64::consts::LN_2;
    // Taylor's series of e^t for |t| <= 0.347.
    let t = fraction;
    let series = 1.0
        + t * (1.0
            + t * (1.0 / 2.0
                + t * (1.0 / 6.0
                    + t * (1.0 / 24.0
                        + t * (1.0 / 120.0
                            + t * (1.0 / 720.0 + t * (1.0 / 5040.0 + t * (1.0 / 40320.0 + t * (1.0 / 362_880.0)))))))));
    let exponent = shifted.to_bits().wrapping_sub(MAGIC.to_bits());
    f64::from_bits(series.to_bits().wrapping_add(exponent << 52))
}

/// log2 of a positive normal f64 with a relative error below 1e-11.
#[inline(always)]
fn log2(x: f64) -> f64 {
    // x = 2^exponent * m with m between sqrt(1/2) and sqrt(2).
    const SQRT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    let exponent = (x.to_bits().wrapping_sub(SQRT_HALF) as i64) >> 52;
    let m = f64::from_bits(x.to_bits().wrapping_sub((exponent << 52) as u64));
    // ln m = 2 artanh s
    let s = (m - 1.0) / (m + 1.0);
    let q = s * s;
    let series = 1.0
        + q * (1.0 / 3.0
            + q * (1.0 / 5.0
                + q * (1.0 / 7.0 + q * (1.0 / 9.0 + q * (1.0 / 11.0 + q * (1.0 / 13.0 + q * (1.0 / 15.0)))))));
    exponent as f64 + s * series * (2.0 * std::f64::consts::LOG2_E)
}

/// sin(a + quarters * pi/2).
///
/// The angle is reduced as a fraction of a turn. In f64 that is good to 1e-11 up to angles of 10^5;
/// far beyond, as on a GPU, the result has lost the angle but stays within [-1, 1].
#[inline(always)]
fn trigonometric<const FTZ: bool>(a: f32, quarters: i64) -> f32 {
    if !a.is_finite() {
        return NAN;
    }
    // A multiple of four quarters beyond what f64 can tell apart counts as no angle at all.
    let turns = f64::from(a) * (4.0 / std::f64::consts::TAU);
    if turns.abs() >= 4_503_599_627_370_496.0 {
        return if quarters == 0 { 0.0 } else { 1.0 };
    }
    let nearest = double::round_nearest(turns);
    let x = (turns - nearest) * std::f64::consts::FRAC_PI_2;
    let quadrant = (nearest as i64).wrapping_add(quarters);
    let q = x * x;
    let magnitude = if quadrant & 1 == 0 {
        x * (1.0
            - q * (1.0 / 6.0
                - q * (1.0 / 120.0 - q * (1.0 / 5040.0 - q * (1.0 / 362_880.0 - q * (1.0 / 39_916_800.0))))))
    } else {
        1.0 - q
            * (1.0 / 2.0
                - q * (1.0 / 24.0
                    - q * (1.0 / 720.0 - q * (1.0 / 40320.0 - q * (1.0 / 3_628_800.0 - q * (1.0 / 479_001_600.0))))))
    };
    let result = if quadrant & 2 == 0 { magnitude } else { -magnitude } as f32;
    if FTZ { flush(result) } else { result }
}
