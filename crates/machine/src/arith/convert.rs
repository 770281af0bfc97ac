//! `cvt` between scalar types (PTX ISA 9.7.9.21). Packed and 8-bit destinations are in `narrow`.
//!
//! Every float of the four formats is an f64 exactly, so a conversion reads an f64 and rounds once
//! from there. Integers take the same way as far as f64 holds them.

use fusion_ptx::ast::{Mode, Rounding, ScalarType};

use super::half::{self, Half};
use super::integer::{self, Int};
use super::round::{self, Exact, Format, RN, RZ};
use super::{Fn1, by_direction, by_flags, direction, double, narrow, single};

/// The conversion of one source.
///
/// A signed integer result is sign-extended to 64 bits, because `cvt` into a wider register extends;
/// the caller keeps what its register holds.
pub fn convert(dty: ScalarType, sty: ScalarType, mode: Mode) -> Option<Fn1> {
    use ScalarType::*;
    match (dty, sty) {
        (E4m3x2 | E5m2x2, F16x2) | (F16x2, E4m3x2 | E5m2x2) => narrow::repack(dty, sty, mode),
        (Tf32, F32) => narrow::convert(dty, mode),
        (F16 | Bf16, F32) if mode.relu || mode.satfinite => narrow::convert(dty, mode),
        (U8, _) => to_integer::<u8>(sty, mode),
        (U16, _) => to_integer::<u16>(sty, mode),
        (U32, _) => to_integer::<u32>(sty, mode),
        (U64, _) => to_integer::<u64>(sty, mode),
        (S8, _) => to_integer::<i8>(sty, mode),
        (S16, _) => to_integer::<i16>(sty, mode),
        (S32, _) => to_integer::<i32>(sty, mode),
        (S64, _) => to_integer::<i64>(sty, mode),
        (F16, _) => to_float::<half::F16>(sty, mode),
        (Bf16, _) => to_float::<half::Bf16>(sty, mode),
        (F32, _) => to_float::<Single>(sty, mode),
        (F64, _) => to_float::<Double>(sty, mode),
        _ => None,
    }
}

fn to_integer<D: Int>(sty: ScalarType, mode: Mode) -> Option<Fn1> {
    use ScalarType::*;
    match sty {
        U8 | B8 => Some(resize::<D, u8>(mode.sat)),
        U16 | B16 => Some(resize::<D, u16>(mode.sat)),
        U32 | B32 => Some(resize::<D, u32>(mode.sat)),
        U64 | B64 => Some(resize::<D, u64>(mode.sat)),
        S8 => Some(resize::<D, i8>(mode.sat)),
        S16 => Some(resize::<D, i16>(mode.sat)),
        S32 => Some(resize::<D, i32>(mode.sat)),
        S64 => Some(resize::<D, i64>(mode.sat)),
        F16 => float_to_integer::<D, half::F16>(mode),
        Bf16 => float_to_integer::<D, half::Bf16>(mode),
        F32 => float_to_integer::<D, Single>(mode),
        F64 => float_to_integer::<D, Double>(mode),
        _ => None,
    }
}

fn to_float<D: Float>(sty: ScalarType, mode: Mode) -> Option<Fn1> {
    use ScalarType::*;
    match sty {
        U8 => integer_to_float::<D, u8>(mode),
        U16 => integer_to_float::<D, u16>(mode),
        U32 => integer_to_float::<D, u32>(mode),
        U64 => integer_to_float::<D, u64>(mode),
        S8 => integer_to_float::<D, i8>(mode),
        S16 => integer_to_float::<D, i16>(mode),
        S32 => integer_to_float::<D, i32>(mode),
        S64 => integer_to_float::<D, i64>(mode),
        F16 => float_to_float::<D, half::F16>(mode),
        Bf16 => float_to_float::<D, half::Bf16>(mode),
        F32 => float_to_float::<D, Single>(mode),
        F64 => float_to_float::<D, Double>(mode),
        _ => None,
    }
}

fn resize<D: Int, S: Int>(sat: bool) -> Fn1 {
    if sat { |a| extended(integer::clamp::<D>(S::read(a).wide())) } else { |a| extended(D::narrow(S::read(a).wide())) }
}

/// As 64 bits, extended as the type is signed.
#[inline(always)]
fn extended<T: Int>(value: T) -> u64 {
    value.wide() as u64
}

fn float_to_integer<D: Int, S: Float>(mode: Mode) -> Option<Fn1> {
    // Clamping to the range is the rule here, so that `.sat` says nothing new.
    let direction = mode.rounding.map_or(Some(RZ), round::direction)?;
    Some(by_flags!(FTZ = mode.ftz; by_direction!(R = direction; |a| {
        extended(integral::<D>(double::round_integral::<R>(S::read::<FTZ>(a)), S::FORMAT == Format::F64))
    })))
}

/// An integral f64 clamped to the type. NaN is zero, except from f64 or to 64 bits, where it is the
/// sign bit alone.
#[inline(always)]
fn integral<D: Int>(x: f64, from_f64: bool) -> D {
    if x.is_nan() {
        return D::read(if from_f64 || D::BITS == 64 { 1 << (D::BITS - 1) } else { 0 });
    }
    // Casts to i64 and u64 saturate; narrower types are clamped from there.
    if D::BITS == 64 && D::MIN == D::read(0) { D::read(x as u64) } else { integer::clamp(i128::from(x as i64)) }
}

fn integer_to_float<D: Float, S: Int>(mode: Mode) -> Option<Fn1> {
    if mode.sat {
        // Integers clamp to 0 or 1, which every format has.
        return Some(|a| D::write::<RN, false>(S::read(a).wide().clamp(0, 1) as f64));
    }
    Some(by_direction!(R = direction(mode)?; |a| {
        let value = S::read(a).wide();
        let magnitude = value.unsigned_abs() as u64;
        if magnitude <= 1 << 53 {
            D::write::<R, false>(value as i64 as f64)
        } else {
            Exact::integer(value < 0, magnitude).round(D::FORMAT, R)
        }
    }))
}

fn float_to_float<D: Float, S: Float>(mode: Mode) -> Option<Fn1> {
    use Rounding::*;
    // An integer rounding has the same format on both sides, which has all integral values.
    let integral = matches!(mode.rounding, Some(NearestInt | ZeroInt | MinusInt | PlusInt));
    // A move, but for the 16-bit formats: hardware computes there, which makes NaNs canonical.
    if D::FORMAT == S::FORMAT && D::FORMAT.width > 16 && !(integral || mode.sat || mode.ftz) {
        return Some(|a| integer::low_bits(a, D::FORMAT.width));
    }
    Some(by_flags!(FTZ = mode.ftz, SAT = mode.sat, INTEGRAL = integral; by_direction!(R = direction(mode)?; |a| {
        if !SAT && (!FTZ || S::FORMAT == Format::F64) && let Some(nan) = nan(S::FORMAT, D::FORMAT, a) {
            return nan;
        }
        let x = S::read::<FTZ>(a);
        let x = if INTEGRAL { double::round_integral::<R>(x) } else { x };
        let x = if SAT { saturated(x) } else { x };
        D::write::<R, FTZ>(x)
    })))
}

/// A NaN in another format, where that is not the canonical one. The manual leaves it open; an H200 passes payloads on from and to f64,
/// where it makes them quiet, and writes a bf16 into the upper half of an f32 as it is; with `.ftz` it does so only from f64.
#[inline(always)]
fn nan(from: Format, to: Format, bits: u64) -> Option<u64> {
    let bits = integer::low_bits(bits, from.width);
    let magnitude = bits & ((1 << (from.width - 1)) - 1);
    if magnitude <= from.infinity() {
        return None;
    }
    if (from, to) == (Format::BF16, Format::F32) {
        return Some(bits << 16);
    }
    if from != Format::F64 && to != Format::F64 {
        return None;
    }
    let sign = bits >> (from.width - 1) << (to.width - 1);
    let fraction = magnitude << (65 - from.precision) >> (65 - to.precision);
    Some(sign | to.infinity() | 1 << (to.precision - 2) | fraction)
}

/// Clamps to [0, 1]; NaN and -0 become +0.
#[inline(always)]
fn saturated(x: f64) -> f64 {
    if x > 0.0 { x.min(1.0) } else { 0.0 }
}

/// A float format that `cvt` reads and writes as f64.
trait Float {
    const FORMAT: Format;
    fn read<const FTZ: bool>(bits: u64) -> f64;
    /// Rounds; NaN becomes the one that instructions of the type produce.
    fn write<const R: u8, const FTZ: bool>(x: f64) -> u64;
}

struct Single;
struct Double;

/// `x` rounded in a direction for which there is no quicker way.
#[inline(never)]
fn directed(format: Format, direction: u8, x: f64, nan: u64) -> u64 {
    round::reformat(Format::F64, format, direction, x.to_bits()).unwrap_or(nan)
}

impl Float for Single {
    const FORMAT: Format = Format::F32;
    #[inline(always)]
    fn read<const FTZ: bool>(bits: u64) -> f64 {
        f64::from(single::input::<FTZ>(single::from(bits)))
    }
    #[inline(always)]
    fn write<const R: u8, const FTZ: bool>(x: f64) -> u64 {
        let rounded = if R == RN {
            single::nearest::<FTZ>(x)
        } else {
            single::from(directed(single::format::<FTZ>(), R, x, single::bits(single::NAN)))
        };
        single::bits(single::output::<FTZ, false>(rounded))
    }
}

impl Float for Double {
    const FORMAT: Format = Format::F64;
    #[inline(always)]
    fn read<const FTZ: bool>(bits: u64) -> f64 {
        double::from(bits)
    }
    #[inline(always)]
    fn write<const R: u8, const FTZ: bool>(x: f64) -> u64 {
        // A NaN out of an f32 would carry the host's idea of a payload.
        if x.is_nan() { NAN_F64 } else { x.to_bits() }
    }
}

/// The canonical f32 NaN, widened.
const NAN_F64: u64 = 0x7fff_ffff_e000_0000;

macro_rules! half_float {
    ($($ty:ty, $format:expr;)*) => {$(
        impl Float for $ty {
            const FORMAT: Format = $format;
            #[inline(always)]
            fn read<const FTZ: bool>(bits: u64) -> f64 {
                f64::from(<$ty>::widen(bits as u16))
            }
            #[inline(always)]
            fn write<const R: u8, const FTZ: bool>(x: f64) -> u64 {
                if R == RN {
                    // Rounding to odd first keeps the two steps equal to one.
                    u64::from(<$ty>::narrow(half::to_odd(x)))
                } else {
                    directed($format, R, x, u64::from(half::NAN))
                }
            }
        }
    )*};
}

half_float! { half::F16, Format::F16; half::Bf16, Format::BF16; }
