//! Checks against independent arithmetic: `rustc_apfloat` for roundings, `libm` for functions.

mod approx;
mod compare;
mod convert;
mod float;
mod half;
mod integer;

use fusion_ptx::ast::{Mode, Rounding};

/// Splitmix64: small, and the same on every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// An f32's bits: anything, of moderate size, subnormal, or with few significant bits, so that
    /// sums and products also cancel, underflow and tie.
    fn f32(&mut self) -> u64 {
        let x = self.next();
        let bits = x as u32;
        u64::from(match x >> 60 {
            0..=3 => bits,
            4..=8 => bits & 0x83ff_ffff | 0x3c00_0000,
            9 => bits & 0x807f_ffff,
            10 => bits & 0x80ff_ffff | 0x7f00_0000,
            11..=13 => bits & 0x83ff_f000 | 0x3c00_0000,
            _ => F32[(x >> 32) as usize % F32.len()],
        })
    }

    fn f64(&mut self) -> u64 {
        let x = self.next();
        match self.next() >> 60 {
            0..=3 => x,
            4..=8 => x & 0x807f_ffff_ffff_ffff | 0x3f80_0000_0000_0000,
            9 => x & 0x800f_ffff_ffff_ffff,
            10 => x & 0x801f_ffff_ffff_ffff | 0x7fc0_0000_0000_0000,
            11..=13 => x & 0x807f_ffff_0000_0000 | 0x3f80_0000_0000_0000,
            _ => f64::from(f32::from_bits(F32[x as usize % F32.len()])).to_bits(),
        }
    }
}

/// Zeros, subnormals, ones, ties, the largest, infinities and NaNs.
const F32: [u32; 22] = [
    0,
    0x8000_0000,
    1,
    0x8000_0001,
    0x007f_ffff,
    0x807f_ffff,
    0x0080_0000,
    0x8080_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x3f80_0001,
    0x3f7f_ffff,
    0x4b80_0000,
    0x4b80_0001,
    0x3300_0000,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0xffc1_2345,
    0x7f80_0001,
];

const DIRECTIONS: [Rounding; 4] = [Rounding::Nearest, Rounding::Zero, Rounding::Minus, Rounding::Plus];

fn rounded(rounding: Rounding) -> Mode {
    Mode { rounding: Some(rounding), ..Mode::plain() }
}

fn apfloat_round(rounding: Rounding) -> rustc_apfloat::Round {
    use rustc_apfloat::Round;
    match rounding {
        Rounding::Zero | Rounding::ZeroInt => Round::TowardZero,
        Rounding::Minus | Rounding::MinusInt => Round::TowardNegative,
        Rounding::Plus | Rounding::PlusInt => Round::TowardPositive,
        Rounding::NearestAway => Round::NearestTiesToAway,
        _ => Round::NearestTiesToEven,
    }
}
