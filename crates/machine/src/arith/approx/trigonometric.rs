//! `sin` and `cos`.

use super::interpolation::{sum, truncated};
use super::tables::SIN;
use crate::arith::single::NAN;

/// 1 / 2pi as f32.
const TURNS: f32 = f32::from_bits(0x3e22_f983);

/// The sine of radians; of infinities NaN.
pub fn sin<const FTZ: bool>(a: f32) -> f32 {
    if !a.is_finite() {
        return NAN;
    }
    let (quarter, fraction) = reduced(a);
    signed(quadrant(quarter, fraction), (quarter & 2 != 0) != a.is_sign_negative())
}

pub fn cos<const FTZ: bool>(a: f32) -> f32 {
    if !a.is_finite() {
        return NAN;
    }
    let (quarter, fraction) = reduced(a);
    signed(quadrant(quarter + 1, fraction), (quarter + 1) & 2 != 0)
}

/// The magnitude of an angle in quarters of a turn: how many, modulo at least four, and 23 bits of the next.
///
/// The angle in turns is an f32, cut off after 24 bits. So one far from zero keeps little of its
/// fraction, and from 2^23 turns on none: its sine is zero.
fn reduced(a: f32) -> (u64, u32) {
    let product = f64::from(a.abs()) * f64::from(TURNS);
    let turns = f64::from_bits(product.to_bits() & !0x1fff_ffff);
    // Whole turns do not matter, and a conversion that saturates must not make a fraction of them.
    let fixed = if turns < 8_388_608.0 { (turns * 33_554_432.0) as u64 } else { 0 };
    (fixed >> 23, (fixed & 0x7f_ffff) as u32)
}

/// The sine in units of 2^-37 of a fraction of the first quarter; in odd quarters it goes backwards.
fn quadrant(quarter: u64, fraction: u32) -> i64 {
    let backwards = quarter & 1 != 0;
    if backwards && fraction == 0 {
        return 1 << 37;
    }
    // Backwards by the complement, one unit less than the distance to the quarter's end.
    let fraction = if backwards { !fraction & 0x7f_ffff } else { fraction };
    sum::<11, 0, false, true>(SIN[(fraction >> 17) as usize], fraction & 0x1_ffff)
}

fn signed(magnitude: i64, negative: bool) -> f32 {
    let magnitude = truncated(magnitude, 37);
    if negative { -magnitude } else { magnitude }
}
