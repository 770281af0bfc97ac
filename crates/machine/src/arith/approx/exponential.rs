//! `ex2`.

use super::interpolation::{Packed, each};
use super::tables::EX2;
use crate::arith::half::Half;

static SEGMENTS: Packed<64> = Packed::new(&EX2);

/// The unit's operation: a subnormal result is zero.
#[inline(always)]
fn units<const N: usize>(a: [u32; N]) -> [u32; N] {
    let fixed: [i32; N] = each(|i| fixed(a[i]));
    // 2^23 times the power of the fraction.
    let x = each(|i| fixed[i] as u32 & 0x1_ffff);
    let mantissas = SEGMENTS.mantissas::<13, 0, false, N>(each(|i| fixed[i] as u32 >> 17), x, 6114);
    each(|i| {
        let exponent = fixed[i] >> 23;
        // The mantissa's leading one adds 1 to the exponent.
        let bits = (((exponent + 126) << 23) as u32).wrapping_add(mantissas[i]);
        let bits = if exponent < -126 { 0 } else { bits };
        let bits = if exponent > 127 { 0x7f80_0000 } else { bits };
        if a[i] & 0x7fff_ffff > 0x7f80_0000 { 0x7fff_ffff } else { bits }
    })
}

/// A number in fixed point with 23 bits behind the point, cut off; beyond 256 something as large.
#[inline(always)]
fn fixed(a: u32) -> i32 {
    let mantissa = (a & 0x7f_ffff | 0x80_0000) << 7;
    let unused = 134u32.saturating_sub(a >> 23 & 0xff).min(31);
    let magnitude = (mantissa >> unused) as i32;
    // A negative number's fraction is the complement of the magnitude's, one unit less than its negative.
    let inexact = i32::from(magnitude & 0x7f_ffff != 0);
    if a >> 31 == 1 { -magnitude - inexact } else { magnitude }
}

/// 2^a for the bits of several numbers. Without `FTZ` subnormal results exist, each the square of its root's.
#[inline(always)]
pub fn ex2<const FTZ: bool, const N: usize>(a: [u32; N]) -> [u32; N] {
    if FTZ {
        return units(a);
    }
    let small: [bool; N] = each(|i| f32::from_bits(a[i]) < -126.0);
    let powers = units::<N>(each(|i| if small[i] { (f32::from_bits(a[i]) * 0.5).to_bits() } else { a[i] }));
    each(|i| {
        let root = f32::from_bits(powers[i]);
        if small[i] { (root * root).to_bits() } else { powers[i] }
    })
}

/// 2^a of a 16-bit format: the unit's result, its bits beyond the mantissa cut off.
pub fn ex2_half<T: Half>(a: u16) -> u16 {
    T::truncate(f32::from_bits(units([T::widen(a).to_bits()])[0]))
}
