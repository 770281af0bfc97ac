//! `rcp`, and `div`, which multiplies by it.

use super::interpolation::{Packed, each};
use super::tables::RCP;
use super::{TWO_24, below_normal, upper_half};
use crate::arith::round::RN;
use crate::arith::single::{canonical, input, mul};

/// Beyond 2^126 a reciprocal is subnormal.
const TWO_126: f32 = f32::from_bits(0x7e80_0000);

static SEGMENTS: Packed<128> = Packed::new(&RCP);

/// 2^24 / m for each m from 1 to 2 that has this 23-bit fraction.
#[inline(always)]
fn mantissas<const N: usize>(fractions: [u32; N]) -> [u32; N] {
    // 128 segments leave x one bit less than the interpolation has.
    let x = each(|i| (fractions[i] & 0xffff) << 1);
    SEGMENTS.mantissas::<14, 1, true, N>(each(|i| fractions[i] >> 16), x, 4046)
}

/// The unit's operation: subnormal numbers are taken and given as zeros.
#[inline(always)]
fn units<const N: usize>(a: [u32; N]) -> [u32; N] {
    let mantissas = mantissas::<N>(each(|i| a[i] & 0x7f_ffff));
    each(|i| {
        let (sign, magnitude) = (a[i] & 0x8000_0000, a[i] & 0x7fff_ffff);
        // The mantissa's leading one adds 1 to the exponent, and for m = 1 it is 2.
        let result = ((252 << 23) + mantissas[i]).wrapping_sub(magnitude & 0x7f80_0000);
        let result = if magnitude < 0x80_0000 { 0x7f80_0000 } else { result };
        let result = if magnitude > TWO_126.to_bits() { 0 } else { result };
        if magnitude > 0x7f80_0000 { 0x7fff_ffff } else { sign | result }
    })
}

#[inline(always)]
fn unit(a: f32) -> f32 {
    f32::from_bits(units([a.to_bits()])[0])
}

/// 1 / a for the bits of several numbers.
#[inline(always)]
pub fn rcp<const FTZ: bool, const N: usize>(a: [u32; N]) -> [u32; N] {
    if FTZ {
        return units(a);
    }
    // By a power of two, where the argument or the result is subnormal.
    let scale: [f32; N] = each(|i| {
        let a = f32::from_bits(a[i]);
        let scale = if below_normal(a) { TWO_24 } else { 1.0 };
        if a.abs() > TWO_126 { 0.25 } else { scale }
    });
    let reciprocals = units::<N>(each(|i| (f32::from_bits(a[i]) * scale[i]).to_bits()));
    each(|i| canonical(f32::from_bits(reciprocals[i]) * scale[i]).to_bits())
}

/// `div.approx`: a times the reciprocal of b, which for |b| above 2^126 is zero.
#[inline(always)]
pub fn div<const FTZ: bool>(a: f32, b: f32) -> f32 {
    if FTZ {
        return mul::<RN, FTZ, false>(a, unit(b));
    }
    let scale = if below_normal(b) { TWO_24 } else { 1.0 };
    canonical(a * scale * unit(b * scale))
}

/// `div.full`: 2 ulp over the full range.
#[inline(always)]
pub fn div_full<const FTZ: bool>(a: f32, b: f32) -> f32 {
    let (a, b) = (input::<FTZ>(a), input::<FTZ>(b));
    let scale = if b.abs() > TWO_126 { 0.25 } else { 1.0 };
    let scale = if !FTZ && below_normal(b) { TWO_24 } else { scale };
    mul::<RN, FTZ, false>(mul::<RN, FTZ, false>(a, scale), unit(b * scale))
}

/// `rcp.approx.ftz.f64`: 20 bits of mantissa from 20 bits, the lower halves of both as zeros.
pub fn rcp_f64(a: f64) -> f64 {
    let (sign, magnitude) = (a.to_bits() & 1 << 63, a.to_bits() & !(1 << 63));
    let fraction = (magnitude >> 29 & 0x7f_fff8) as u32;
    match magnitude >> 52 {
        0 => f64::from_bits(sign | f64::INFINITY.to_bits()),
        2047 if upper_is_nan(magnitude) => NAN_F64,
        exponent if exponent > 2045 || exponent == 2045 && fraction != 0 => f64::from_bits(sign),
        exponent => upper_half(sign, 2045 - exponent, mantissas([fraction])[0]),
    }
}

/// Whether an f64 of this magnitude is a NaN by its upper half, the only one that the unit sees.
pub fn upper_is_nan(magnitude: u64) -> bool {
    magnitude >> 32 > 0x7ff0_0000
}

/// The NaN of the two f64 forms.
pub const NAN_F64: f64 = f64::from_bits(0x7fff_ffff_0000_0000);
