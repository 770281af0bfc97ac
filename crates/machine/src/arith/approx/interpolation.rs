//! Piecewise quadratic interpolation in fixed point, as a GPU's unit for special functions does it
//! (Oberman and Siu, "A High-Performance Area-Efficient Multifunction Interpolator", ARITH 2005).
//!
//! The argument's high bits choose a segment and its low 17 bits are `x`. The unit sums
//! C0 + C1 x + C2 x^2, whose coefficients have 26, 16 and 10 bits, with one approximation beside
//! theirs: the squarer leaves away the columns of its partial products below 2^19, carries and all.
//! The sum itself is exact, and what follows is truncated; rounding is part of C0.

use super::tables::Segment;

/// The square of a 17-bit number in units of 2^19, from its partial products of weight 2^19 and above.
#[inline(always)]
pub fn square(x: u32) -> u16 {
    square_of_parts(parts(x))
}

/// Of a 17-bit number what its square depends on: bits 2 to 8, then 9 to 16. They fit into 16 bits,
/// of which a vector instruction takes twice as many.
#[inline(always)]
fn parts(x: u32) -> u16 {
    ((x >> 2 & 0x7f) | x >> 9 << 7) as u16
}

/// A square's partial products are `x_i x_j` of weight 2^(i+j+1) for each pair of bits, and `x_i` of weight 2^2i.
/// Of the bits from 9 up all are kept, but for the last bit of their square. Each lower bit i has a row of
/// its products with the bits j >= 18 - i.
#[inline(always)]
fn square_of_parts(parts: u16) -> u16 {
    #[inline(always)]
    fn row(parts: u16, i: u32) -> u16 {
        // All ones if bit i is set.
        let bit = ((parts << (17 - i)) as i16 >> 15) as u16;
        parts >> 8 >> (8 - i) & bit
    }
    let high = parts >> 7;
    let square = high.wrapping_mul(high) >> 1;
    square
        + row(parts, 2)
        + row(parts, 3)
        + row(parts, 4)
        + row(parts, 5)
        + row(parts, 6)
        + row(parts, 7)
        + row(parts, 8)
}

/// C0 * 2^A + C1 x + C2 * 2^C * square(x), for coefficients with the signs that the flags say.
#[inline(always)]
pub fn sum<const A: u32, const C: u32, const FALLING: bool, const CONCAVE: bool>(segment: Segment, x: u32) -> i64 {
    let (c0, c1, c2) = segment;
    let constant = (u64::from(c0) << A) as i64;
    let linear = (u64::from(c1) * u64::from(x)) as i64;
    let quadratic = ((u64::from(c2) * u64::from(square(x))) << C) as i64;
    let rising = if FALLING { constant - linear } else { constant + linear };
    if CONCAVE { rising - quadratic } else { rising + quadratic }
}

/// `sum * 2^-point` as f32, its bits beyond the mantissa cut off.
///
/// Of up to 53 bits: an f64 holds them, and without its last 29 it is an f32.
#[inline(always)]
pub fn truncated(sum: i64, point: i32) -> f32 {
    let scale = f64::from_bits(((1023 - point) as u64) << 52);
    let wide = (sum as f64 * scale).to_bits() & !0x1fff_ffff;
    f64::from_bits(wide) as f32
}

/// The coefficients of a hot function where C2 is positive, the last two in one word.
#[derive(Debug)]
pub struct Packed<const M: usize> {
    constants: [u32; M],
    others: [u32; M],
}

impl<const M: usize> Packed<M> {
    pub const fn new(segments: &[Segment; M]) -> Self {
        let mut packed = Self { constants: [0; M], others: [0; M] };
        let mut i = 0;
        while i < M {
            let (c0, c1, c2) = segments[i];
            packed.constants[i] = c0;
            packed.others[i] = c1 << 10 | c2;
            i += 1;
        }
        packed
    }

    /// `sum + rounding` without its last A + 2 bits, for several numbers at once.
    ///
    /// Loop by loop, so that all but the look-up become vector instructions; for these the sum is made of parts that
    /// fit into 32 bits.
    #[inline(always)]
    pub fn mantissas<const A: u32, const C: u32, const FALLING: bool, const N: usize>(
        &self,
        segment: [u32; N],
        x: [u32; N],
        rounding: i32,
    ) -> [u32; N] {
        let parts: [u16; N] = each(|i| parts(x[i]));
        let square: [u16; N] = each(|i| square_of_parts(parts[i]));
        let constant: [u32; N] = each(|i| self.constants[segment[i] as usize % M]);
        let others: [u32; N] = each(|i| self.others[segment[i] as usize % M]);
        each(|i| {
            let (slope, curvature) = (others[i] >> 10, others[i] & 0x3ff);
            let quadratic = ((curvature * u32::from(square[i])) << C) as i32 + rounding;
            let (low, high) = ((slope * (x[i] & 0xff)) as i32, (slope * (x[i] >> 8)) as i32);
            // In units of 2^8; what is below carries nothing into the result.
            let without_constant =
                if FALLING { ((quadratic - low) >> 8) - high } else { ((quadratic + low) >> 8) + high };
            ((constant[i] as i32 + (without_constant >> (A - 8))) >> 2) as u32
        })
    }
}

/// A value for each index, by a loop that becomes vector instructions.
#[inline(always)]
pub fn each<T: Copy + Default, const N: usize>(f: impl Fn(usize) -> T) -> [T; N] {
    let mut values = [T::default(); N];
    for (i, value) in values.iter_mut().enumerate() {
        *value = f(i);
    }
    values
}
