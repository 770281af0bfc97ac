//! `sqrt` and `rsqrt`: half of an even exponent, and a mantissa from 1 to 4.

use super::interpolation::sum;
use super::reciprocal::{NAN_F64, upper_is_nan};
use super::tables::{RSQ, SQRT};
use super::{TWO_24, below_normal, upper_half};
use crate::arith::double;
use crate::arith::round::RN;
use crate::arith::single::{NAN, canonical};

/// 2^24 / sqrt(m) for the m from 1 to 2, if `odd` from 2 to 4, that has this fraction.
fn reciprocal_mantissa(odd: u32, fraction: u32) -> u32 {
    // The table's value for 1 lies just below.
    if odd == 0 && fraction == 0 {
        return 1 << 24;
    }
    let sum = sum::<14, 2, true, false>(RSQ[(odd << 6 | fraction >> 17) as usize], fraction & 0x1_ffff);
    ((sum + 0x3fff) >> 16) as u32
}

/// 2^23 sqrt(m), likewise.
fn mantissa(odd: u32, fraction: u32) -> u32 {
    let sum = sum::<15, 1, false, true>(SQRT[(odd << 6 | fraction >> 17) as usize], fraction & 0x1_ffff);
    ((sum + 0x7fff) >> 17) as u32
}

/// Half of an f32's exponent, what is left of it, and the fraction.
fn halved(a: f32) -> (u32, u32, u32) {
    let exponent = (a.to_bits() >> 23) + 1;
    (exponent >> 1, exponent & 1, a.to_bits() & 0x7f_ffff)
}

fn rsqrt_unit(a: f32) -> f32 {
    if a.is_nan() || a <= -f32::MIN_POSITIVE {
        return NAN;
    }
    if below_normal(a) {
        return f32::INFINITY.copysign(a);
    }
    if a == f32::INFINITY {
        return 0.0;
    }
    let (half, odd, fraction) = halved(a);
    f32::from_bits(((189 - half) << 23) + reciprocal_mantissa(odd, fraction))
}

fn sqrt_unit(a: f32) -> f32 {
    if a.is_nan() || a <= -f32::MIN_POSITIVE {
        return NAN;
    }
    if below_normal(a) {
        return 0f32.copysign(a);
    }
    if a == f32::INFINITY {
        return a;
    }
    let (half, odd, fraction) = halved(a);
    f32::from_bits(((half + 62) << 23) + mantissa(odd, fraction))
}

/// 1 / sqrt(a); of -0 it is minus infinity.
pub fn rsqrt<const FTZ: bool>(a: f32) -> f32 {
    if !FTZ && below_normal(a) { canonical(rsqrt_unit(a * TWO_24) * 4096.0) } else { rsqrt_unit(a) }
}

pub fn sqrt<const FTZ: bool>(a: f32) -> f32 {
    if !FTZ && below_normal(a) { canonical(sqrt_unit(a * TWO_24) / 4096.0) } else { sqrt_unit(a) }
}

/// `rsqrt.approx.f64`, and with `FTZ` the unit's 20 bits of it.
pub fn rsqrt_f64<const FTZ: bool>(a: f64) -> f64 {
    if FTZ {
        return rsqrt_f64_unit(a);
    }
    if a.is_nan() {
        // CUDA's code adds it to itself.
        double::add::<RN>(a, a)
    } else if a < 0.0 {
        double::NAN
    } else if a == 0.0 || a == f64::INFINITY {
        rsqrt_f64_unit(a)
    } else if a.is_subnormal() {
        refined(a * 18_014_398_509_481_984.0) * 134_217_728.0
    } else {
        refined(a)
    }
}

/// One step of Halley's method from the unit's result.
fn refined(a: f64) -> f64 {
    let guess = rsqrt_f64_unit(a);
    let error = f64::mul_add(a, -(guess * guess), 1.0);
    let slope = error.mul_add(0.375, 0.5);
    slope.mul_add(guess * error, guess)
}

fn rsqrt_f64_unit(a: f64) -> f64 {
    let magnitude = a.abs().to_bits();
    if magnitude < f64::MIN_POSITIVE.to_bits() {
        return f64::INFINITY.copysign(a);
    }
    if upper_is_nan(magnitude) || a.is_sign_negative() {
        return NAN_F64;
    }
    if magnitude >= f64::INFINITY.to_bits() {
        return 0.0;
    }
    let exponent = (a.to_bits() >> 52) + 1;
    let fraction = (a.to_bits() >> 29 & 0x7f_fff8) as u32;
    upper_half(0, 1534 - (exponent >> 1), reciprocal_mantissa((exponent & 1) as u32, fraction))
}
