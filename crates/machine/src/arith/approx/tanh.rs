//! `tanh`.

use super::interpolation::{sum, truncated};
use super::tables::TANH;
use crate::arith::half::Half;
use crate::arith::single::NAN;

/// Of each binade from 2^-8 to 2^3, its first segment and how many of the fraction's bits are unused.
const BINADES: [(u8, u8); 11] =
    [(0, 6), (1, 6), (2, 6), (3, 5), (5, 5), (7, 4), (11, 4), (15, 4), (19, 3), (27, 2), (43, 3)];

/// The hyperbolic tangent: below 2^-8 the argument itself, from 8 on 1.
pub fn tanh(a: f32) -> f32 {
    if a.is_nan() {
        return NAN;
    }
    let binade = (a.to_bits() >> 23 & 255) as usize;
    if binade < 119 {
        return a;
    }
    let Some(&(first, unused)) = BINADES.get(binade - 119) else {
        return 1f32.copysign(a);
    };
    let fraction = (a.to_bits() & 0x7f_ffff) >> unused;
    let segment = TANH[usize::from(first) + (fraction >> 17) as usize];
    truncated(sum::<15, 1, false, true>(segment, fraction & 0x1_ffff), 39).copysign(a)
}

/// tanh of a 16-bit format, its bits beyond the mantissa cut off.
pub fn tanh_half<T: Half>(a: u16) -> u16 {
    T::truncate(tanh(T::widen(a)))
}
