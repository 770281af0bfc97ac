//! `cvt` from f32 to the narrow floats: f16, bf16, tf32, e4m3 and e5m2, with `.relu` and `.satfinite`,
//! one value or two packed (PTX ISA 9.7.9.21); and the 8-bit floats back to f16.

use fusion_ptx::ast::{Mode, Rounding, ScalarType};

use super::half::{self, Half};
use super::round::{self, Format, RN, RNA, RZ};
use super::{Fn1, Fn2, by_flags, single};

/// A destination format.
trait Target {
    const WIDTH: u32;
    const NAN: u64;
    /// The bits of infinity and of the largest finite number.
    const INFINITY: u64;
    const MAX: u64;
    fn round<const R: u8>(x: f32) -> u64;
}

/// f32 with 10 explicit significand bits; the 13 below are zero.
struct Tf32;
struct E4m3;
struct E5m2;

macro_rules! half_target {
    ($($ty:ty, $format:expr;)*) => {$(
        impl Target for $ty {
            const WIDTH: u32 = 16;
            const NAN: u64 = half::NAN as u64;
            const INFINITY: u64 = <$ty as Half>::INFINITY as u64;
            const MAX: u64 = <$ty as Half>::INFINITY as u64 - 1;
            #[inline(always)]
            fn round<const R: u8>(x: f32) -> u64 {
                if R == RN {
                    u64::from(<$ty>::narrow(x))
                } else {
                    round::reformat(Format::F32, $format, R, single::bits(x)).unwrap_or(Self::NAN)
                }
            }
        }
    )*};
}

half_target! { half::F16, Format::F16; half::Bf16, Format::BF16; }

impl Target for Tf32 {
    const WIDTH: u32 = 32;
    const NAN: u64 = 0x7fff_e000;
    const INFINITY: u64 = 0x7f80_0000;
    const MAX: u64 = 0x7f7f_e000;
    #[inline(always)]
    fn round<const R: u8>(x: f32) -> u64 {
        // Where halves round away, a NaN only loses its lower bits (seen on an H200; the manual leaves it open).
        let nan = if R == RNA { single::bits(x) & !0x1fff } else { Self::NAN };
        round::reformat(Format::F32, Format::TF32, R, single::bits(x)).map_or(nan, |bits| bits << 13)
    }
}

/// The 8-bit formats always saturate: e4m3 has no infinity, and for e5m2 `.satfinite` is mandatory.
impl Target for E4m3 {
    const WIDTH: u32 = 8;
    const NAN: u64 = 0x7f;
    const INFINITY: u64 = 0x7f;
    const MAX: u64 = 0x7e;
    #[inline(always)]
    fn round<const R: u8>(x: f32) -> u64 {
        eight_bits(x, Format::E4M3, Self::MAX, Self::NAN)
    }
}

impl Target for E5m2 {
    const WIDTH: u32 = 8;
    const NAN: u64 = 0x7f;
    const INFINITY: u64 = 0x7c;
    const MAX: u64 = 0x7b;
    #[inline(always)]
    fn round<const R: u8>(x: f32) -> u64 {
        eight_bits(x, Format::E5M2, Self::MAX, Self::NAN)
    }
}

/// To nearest even, saturating.
#[inline(always)]
fn eight_bits(x: f32, format: Format, max: u64, nan: u64) -> u64 {
    if x.is_nan() {
        return nan;
    }
    let bits = x.to_bits();
    let magnitude = bits & 0x7fff_ffff;
    let fraction = format.precision - 1;
    let smallest_normal = ((format.min_exponent + 127) as u32) << 23;
    let rounded = if magnitude < smallest_normal {
        // Adding the power of two whose last place is that of the format's subnormals rounds there.
        let power = ((format.min_exponent - fraction as i32 + 23 + 127) as u32) << 23;
        (f32::from_bits(magnitude) + f32::from_bits(power)).to_bits() - power
    } else {
        let dropped = 23 - fraction;
        let even = magnitude >> dropped & 1;
        let rounded = (magnitude + (1 << (dropped - 1)) - 1 + even) >> dropped;
        rounded - (((format.min_exponent - 1 + 127) as u32) << fraction)
    };
    u64::from(rounded).min(max) | u64::from(bits >> 24 & 0x80)
}

#[inline(always)]
fn limited<T: Target, const R: u8, const RELU: bool, const SATFINITE: bool>(x: f32) -> u64 {
    let bits = T::round::<R>(x);
    let sign = 1 << (T::WIDTH - 1);
    if bits == T::NAN {
        return bits;
    }
    if RELU && bits & sign != 0 {
        return 0;
    }
    if SATFINITE && bits & !sign == T::INFINITY { bits & sign | T::MAX } else { bits }
}

/// The conversion of one f32.
pub fn convert(dty: ScalarType, mode: Mode) -> Option<Fn1> {
    match (dty, mode.rounding?) {
        (ScalarType::F16, Rounding::Nearest) => Some(one::<half::F16, RN>(mode)),
        (ScalarType::F16, Rounding::Zero) => Some(one::<half::F16, RZ>(mode)),
        (ScalarType::Bf16, Rounding::Nearest) => Some(one::<half::Bf16, RN>(mode)),
        (ScalarType::Bf16, Rounding::Zero) => Some(one::<half::Bf16, RZ>(mode)),
        (ScalarType::Tf32, Rounding::Nearest) => Some(one::<Tf32, RN>(mode)),
        (ScalarType::Tf32, Rounding::NearestAway) => Some(one::<Tf32, RNA>(mode)),
        (ScalarType::Tf32, Rounding::Zero) => Some(one::<Tf32, RZ>(mode)),
        _ => None,
    }
}

fn one<T: Target, const R: u8>(mode: Mode) -> Fn1 {
    by_flags!(RELU = mode.relu, SATFINITE = mode.satfinite; |a| limited::<T, R, RELU, SATFINITE>(single::from(a)))
}

/// The conversion of two f32 into a packed register, the first in the upper half.
pub fn convert_pack(dty: ScalarType, sty: ScalarType, mode: Mode) -> Option<Fn2> {
    if sty != ScalarType::F32 {
        return None;
    }
    match (dty, mode.rounding?) {
        (ScalarType::F16x2, Rounding::Nearest) => Some(two::<half::F16, RN>(mode)),
        (ScalarType::F16x2, Rounding::Zero) => Some(two::<half::F16, RZ>(mode)),
        (ScalarType::Bf16x2, Rounding::Nearest) => Some(two::<half::Bf16, RN>(mode)),
        (ScalarType::Bf16x2, Rounding::Zero) => Some(two::<half::Bf16, RZ>(mode)),
        (ScalarType::E4m3x2, Rounding::Nearest) => Some(two::<E4m3, RN>(mode)),
        (ScalarType::E5m2x2, Rounding::Nearest) => Some(two::<E5m2, RN>(mode)),
        _ => None,
    }
}

fn two<T: Target, const R: u8>(mode: Mode) -> Fn2 {
    by_flags!(RELU = mode.relu, SATFINITE = mode.satfinite; |a, b| {
        limited::<T, R, RELU, SATFINITE>(single::from(a)) << T::WIDTH
            | limited::<T, R, RELU, SATFINITE>(single::from(b))
    })
}

/// Between f16x2 and a pair of 8-bit floats, either way.
pub fn repack(dty: ScalarType, sty: ScalarType, mode: Mode) -> Option<Fn1> {
    match (dty, sty) {
        (ScalarType::E4m3x2, ScalarType::F16x2) => Some(pair::<E4m3>(mode)),
        (ScalarType::E5m2x2, ScalarType::F16x2) => Some(pair::<E5m2>(mode)),
        (ScalarType::F16x2, ScalarType::E4m3x2) if mode.relu => {
            Some(|a| half::each1::<true>(spread(a), |x| half::relu(e4m3(x))))
        }
        (ScalarType::F16x2, ScalarType::E4m3x2) => Some(|a| half::each1::<true>(spread(a), e4m3)),
        (ScalarType::F16x2, ScalarType::E5m2x2) if mode.relu => {
            Some(|a| half::each1::<true>(spread(a), |x| half::relu(e5m2(x))))
        }
        (ScalarType::F16x2, ScalarType::E5m2x2) => Some(|a| half::each1::<true>(spread(a), e5m2)),
        _ => None,
    }
}

fn pair<T: Target>(mode: Mode) -> Fn1 {
    by_flags!(RELU = mode.relu, SATFINITE = mode.satfinite; |a| {
        let widen = |x: u64| half::F16::widen(x as u16);
        limited::<T, RN, RELU, SATFINITE>(widen(a >> 16)) << 8 | limited::<T, RN, RELU, SATFINITE>(widen(a))
    })
}

/// Two bytes as two 16-bit halves.
#[inline(always)]
fn spread(a: u64) -> u64 {
    a & 0xff | (a & 0xff00) << 8
}

/// An e4m3 as f16: the exponent's bias differs by 8.
#[inline(always)]
fn e4m3(x: u16) -> u16 {
    if x & 0x7f == 0x7f {
        return half::NAN;
    }
    let sign = (x & 0x80) << 8;
    // Shifted into place it is an f16 too small by 2^8; the product is exact.
    let scaled = half::F16::widen((x & 0x7f) << 7) * 256.0;
    sign | half::F16::narrow(scaled)
}

/// An e5m2 is the upper byte of an f16.
#[inline(always)]
fn e5m2(x: u16) -> u16 {
    if x & 0x7f > 0x7c { half::NAN } else { x << 8 }
}
