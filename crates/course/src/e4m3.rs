//! The 8-bit float of inference: a sign, four bits of exponent, three of fraction.
//!
//! Source: Micikevicius et al., "FP8 Formats for Deep Learning", arXiv:2209.05433. It has no infinities: of its largest exponent only
//! the pattern with all bits set is NaN.

/// An e4m3 number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct E4m3(u8);

impl E4m3 {
    /// The largest finite value.
    pub const MAX: f64 = 448.0;

    /// Bits of the fraction, and the exponent of the smallest normal number.
    const FRACTION: i32 = 3;
    const LEAST: i32 = -6;
    const NAN: u8 = 0x7f;

    /// Rounds to nearest, ties to even. What is larger than [`E4m3::MAX`] becomes that, as GPUs convert with `.satfinite`.
    pub fn from_f64(value: f64) -> Self {
        let sign = if value.is_sign_negative() { 0x80 } else { 0 };
        if value.is_nan() {
            return Self(sign | Self::NAN);
        }
        let size = value.abs().min(Self::MAX);
        // The logarithm of a number just below a power of two may be rounded up to it: then there are eight steps less than one.
        let exponent = if size > 0.0 { (size.log2().floor() as i32).max(Self::LEAST) } else { Self::LEAST };
        let steps = (size / 2f64.powi(exponent - Self::FRACTION)).round_ties_even() as i32;
        // A carry out of the fraction counts the exponent up by itself; subnormal numbers have the exponent of 0.
        let magnitude = ((exponent - Self::LEAST) << Self::FRACTION) + steps;
        Self(sign | magnitude as u8)
    }

    pub fn to_f64(self) -> f64 {
        let magnitude = i32::from(self.0 & 0x7f);
        let (exponent, fraction) = (magnitude >> Self::FRACTION, magnitude & 7);
        let size = match exponent {
            _ if self.0 & 0x7f == Self::NAN => f64::NAN,
            0 => f64::from(fraction) * 2f64.powi(Self::LEAST - Self::FRACTION),
            _ => f64::from(8 + fraction) * 2f64.powi(exponent - 1 + Self::LEAST - Self::FRACTION),
        };
        if self.0 & 0x80 == 0 { size } else { -size }
    }

    pub const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    pub const fn to_bits(self) -> u8 {
        self.0
    }

    pub const fn to_le_bytes(self) -> [u8; 1] {
        [self.0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_its_own_nearest() {
        for bits in 0..=u8::MAX {
            let number = E4m3::from_bits(bits);
            assert_eq!(E4m3::from_f64(number.to_f64()).0, bits, "{}", number.to_f64());
        }
    }

    #[test]
    fn the_middle_of_two_neighbours_goes_to_the_even_one() {
        for low in 0..0x7e_u8 {
            let [below, above] = [low, low + 1].map(|bits| E4m3(bits).to_f64());
            let middle = (below + above) / 2.0;
            let round = |value: f64| E4m3::from_f64(value).0;
            assert!(below < above, "{below} {above}");
            assert_eq!(round(middle), low + (low & 1));
            assert_eq!((round(middle.next_down()), round(middle.next_up())), (low, low + 1));
        }
    }

    #[test]
    fn the_ends_are_those_of_the_format() {
        for (value, bits) in
            [(448.0, 0x7e), (1e9, 0x7e), (f64::NEG_INFINITY, 0xfe), (-0.0, 0x80), (1.0, 0x38), (0.015625, 0x08)]
        {
            assert_eq!(E4m3::from_f64(value).0, bits, "{value}");
        }
        assert_eq!(E4m3(1).to_f64(), 2f64.powi(-9));
        assert!(E4m3::from_f64(f64::NAN).to_f64().is_nan());
    }
}
