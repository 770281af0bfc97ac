//! `lg2`.

use super::interpolation::{sum, truncated};
use super::tables::LG2;
use super::{TWO_24, below_normal};
use crate::arith::single::NAN;

/// The unit's operation: a subnormal argument counts as zero.
fn unit(a: f32) -> f32 {
    if a.is_nan() || a <= -f32::MIN_POSITIVE {
        return NAN;
    }
    if below_normal(a) {
        return f32::NEG_INFINITY;
    }
    // The table's value for 1 lies just above zero.
    if a == f32::INFINITY || a == 1.0 {
        return if a == 1.0 { 0.0 } else { a };
    }
    let exponent = i64::from(a.to_bits() >> 23) - 127;
    let fraction = a.to_bits() & 0x7f_ffff;
    let logarithm = (sum::<12, 1, false, true>(LG2[(fraction >> 17) as usize], fraction & 0x1_ffff) + 837) >> 2;
    // In units of 2^-36. The magnitude of a negative sum is its complement, one unit less than its negative.
    let sum = (exponent << 36) + logarithm;
    if sum < 0 { -truncated(!sum, 36) } else { truncated(sum, 36) }
}

/// log2(a): of zero minus infinity, of negatives NaN.
pub fn lg2<const FTZ: bool>(a: f32) -> f32 {
    // The sum with NaN could have any NaN's bits.
    if !FTZ && below_normal(a) { unit(a * TWO_24) - 24.0 } else { unit(a) }
}
