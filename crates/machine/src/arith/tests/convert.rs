use fusion_ptx::ast::{Mode, Rounding, ScalarType};
use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert};

use super::{DIRECTIONS, Random, apfloat_round, rounded};
use crate::arith::{convert, convert_pack};

use ScalarType::*;

const INTEGERS: [ScalarType; 8] = [U8, U16, U32, U64, S8, S16, S32, S64];
const FLOATS: [ScalarType; 4] = [F16, Bf16, F32, F64];
const TO_INTEGER: [Rounding; 4] = [Rounding::NearestInt, Rounding::ZeroInt, Rounding::MinusInt, Rounding::PlusInt];

fn to(dty: ScalarType, sty: ScalarType, mode: Mode) -> fn(u64) -> u64 {
    convert(dty, sty, mode).unwrap_or_else(|| panic!("cvt.{dty:?}.{sty:?} {mode:?}"))
}

/// Bits of a float type, of all magnitudes.
fn operand(ty: ScalarType, random: &mut Random) -> u64 {
    match ty {
        F16 | Bf16 => random.next() & 0xffff,
        F32 => match random.next() % 3 {
            // Near integers of every width.
            0 => u64::from((random.next() as f32 / (1u64 << (random.next() % 64)) as f32).to_bits()),
            _ => random.f32(),
        },
        _ => match random.next() % 3 {
            0 => (random.next() as f64 / (1u64 << (random.next() % 64)) as f64).to_bits(),
            _ => random.f64(),
        },
    }
}

fn canonical(ty: ScalarType) -> u64 {
    match ty {
        F16 | Bf16 => 0x7fff,
        F32 => 0x7fff_ffff,
        _ => 0x7fff_ffff_e000_0000,
    }
}

/// The conversion between floats as apfloat does it, NaN made canonical.
fn float_to_float(dty: ScalarType, sty: ScalarType, round: rustc_apfloat::Round, bits: u64) -> u64 {
    fn from<S: Float + FloatConvert<Half> + FloatConvert<BFloat> + FloatConvert<Single> + FloatConvert<Double>>(
        dty: ScalarType,
        round: rustc_apfloat::Round,
        bits: u64,
    ) -> u64 {
        fn finish<D: Float>(dty: ScalarType, x: D) -> u64 {
            if x.is_nan() { canonical(dty) } else { x.to_bits() as u64 }
        }
        let x = S::from_bits(u128::from(bits));
        let mut lost = false;
        match dty {
            F16 => finish::<Half>(dty, x.convert_r(round, &mut lost).value),
            Bf16 => finish::<BFloat>(dty, x.convert_r(round, &mut lost).value),
            F32 => finish::<Single>(dty, x.convert_r(round, &mut lost).value),
            _ => finish::<Double>(dty, x.convert_r(round, &mut lost).value),
        }
    }
    match sty {
        F16 => from::<Half>(dty, round, bits),
        Bf16 => from::<BFloat>(dty, round, bits),
        F32 => from::<Single>(dty, round, bits),
        _ => from::<Double>(dty, round, bits),
    }
}

fn is_nan(ty: ScalarType, bits: u64) -> bool {
    let infinity = match ty {
        F16 => 0x7c00,
        Bf16 => 0x7f80,
        F32 => 0x7f80_0000,
        _ => 0x7ff0_0000_0000_0000,
    };
    bits & ((1 << (ty.bits() - 1)) - 1) > infinity
}

#[test]
fn floats_to_floats_round_every_way() {
    let mut random = Random(41);
    for dty in FLOATS {
        for sty in FLOATS.into_iter().filter(|&sty| sty != dty) {
            for rounding in DIRECTIONS {
                let f = to(dty, sty, rounded(rounding));
                for _ in 0..4_000 {
                    let bits = operand(sty, &mut random);
                    let expected = float_to_float(dty, sty, apfloat_round(rounding), bits);
                    // Which NaN it is that a NaN becomes, the sweep of the conformance suite knows.
                    let both_nan = is_nan(dty, f(bits)) && is_nan(dty, expected);
                    assert!(both_nan || f(bits) == expected, "{dty:?}.{sty:?} {rounding:?} {bits:x}");
                }
            }
        }
    }
}

#[test]
fn integers_to_floats_round_every_way() {
    let mut random = Random(42);
    for sty in INTEGERS {
        let ones = u64::MAX >> (64 - sty.bits());
        for rounding in DIRECTIONS {
            let (mode, round) = (rounded(rounding), apfloat_round(rounding));
            let fs = FLOATS.map(|dty| to(dty, sty, mode));
            for _ in 0..2_000 {
                let bits = random.next() >> (random.next() % 64) & ones;
                let unused = 128 - sty.bits();
                let value = if sty.is_signed() { (i128::from(bits) << unused) >> unused } else { i128::from(bits) };
                let expected = [
                    Half::from_i128_r(value, round).value.to_bits() as u64,
                    BFloat::from_i128_r(value, round).value.to_bits() as u64,
                    Single::from_i128_r(value, round).value.to_bits() as u64,
                    Double::from_i128_r(value, round).value.to_bits() as u64,
                ];
                assert_eq!(fs.map(|f| f(bits)), expected, "{sty:?} {rounding:?} {value}");
            }
        }
    }
}

#[test]
fn floats_to_integers_clamp() {
    let mut random = Random(43);
    for sty in FLOATS {
        for dty in INTEGERS {
            for rounding in TO_INTEGER {
                let f = to(dty, sty, rounded(rounding));
                let widen = to(F64, sty, Mode::plain());
                for _ in 0..1_000 {
                    let bits = operand(sty, &mut random);
                    let x = f64::from_bits(widen(bits));
                    let whole = match rounding {
                        Rounding::NearestInt => x.round_ties_even(),
                        Rounding::ZeroInt => x.trunc(),
                        Rounding::MinusInt => x.floor(),
                        _ => x.ceil(),
                    };
                    let width = dty.bits();
                    let expected = if x.is_nan() {
                        let kept = sty == F64 || width == 64;
                        if kept { 1u128 << (width - 1) } else { 0 }
                    } else if dty.is_signed() {
                        let limit = 1i128 << (width - 1);
                        (whole as i128).clamp(-limit, limit - 1) as u128
                    } else {
                        (whole as i128).clamp(0, (1i128 << width) - 1) as u128
                    };
                    let ones = u64::MAX >> (64 - width);
                    assert_eq!(f(bits) & ones, expected as u64 & ones, "{dty:?}.{sty:?} {rounding:?} {x:e}");
                }
            }
        }
    }
}

#[test]
fn narrow_signed_results_are_extended() {
    assert_eq!(to(S8, F32, rounded(Rounding::NearestInt))(u64::from((-3f32).to_bits())), -3i64 as u64);
    assert_eq!(to(S8, S32, Mode::plain())(0x80), -128i64 as u64);
    assert_eq!(to(U8, S32, Mode::plain())(0x1ff), 0xff);
    assert_eq!(to(S64, S32, Mode::plain())(0xffff_ffff), u64::MAX);
    assert_eq!(to(S64, U32, Mode::plain())(0xffff_ffff), 0xffff_ffff);
    assert_eq!(to(U32, S8, Mode::plain())(0x80), 0xffff_ff80);
}

#[test]
fn integers_saturate() {
    let sat = Mode { sat: true, ..Mode::plain() };
    assert_eq!(to(S8, S32, sat)(300), 127);
    assert_eq!(to(S8, S32, sat)(u64::from(-300i32 as u32)), -128i64 as u64);
    assert_eq!(to(U8, S32, sat)(u64::from(-1i32 as u32)), 0);
    assert_eq!(to(S32, U32, sat)(0xffff_ffff), 0x7fff_ffff);
    assert_eq!(to(U32, S64, sat)(1 << 40), 0xffff_ffff);
    assert_eq!(to(U64, S64, sat)(u64::MAX), 0);
}

#[test]
fn floats_saturate_and_flush() {
    let sat = Mode { sat: true, ..Mode::plain() };
    let ftz = Mode { ftz: true, ..Mode::plain() };
    let f = |x: f32| u64::from(x.to_bits());
    let sat_f32 = to(F32, F32, sat);
    assert_eq!([f(-1.0), f(0.5), f(7.0), f(f32::NAN)].map(sat_f32), [0, f(0.5), f(1.0), 0]);
    assert_eq!(to(F32, F32, ftz)(0x8000_0001), 0x8000_0000);
    // Without a modifier it is a move, of NaN too.
    assert_eq!([0x8000_0001, 0xffc1_2345].map(to(F32, F32, Mode::plain())), [0x8000_0001, 0xffc1_2345]);
    assert_eq!(to(F64, F32, ftz)(1), 0);
    assert_eq!(to(F32, F64, Mode { rounding: Some(Rounding::Nearest), ..ftz })(1e-40f64.to_bits()), 0);
    assert_eq!(to(S32, F32, Mode { rounding: Some(Rounding::PlusInt), ..ftz })(1), 0);
    assert_eq!(to(S32, F32, rounded(Rounding::PlusInt))(1), 1);
    let rni = to(F32, F32, rounded(Rounding::NearestInt));
    assert_eq!([f(2.5), f(-0.4), f(3.5), f(1e10)].map(rni), [f(2.0), f(-0.0), f(4.0), f(1e10)]);
    let sat_rni = to(F32, F32, Mode { sat: true, ..rounded(Rounding::NearestInt) });
    assert_eq!(sat_rni(f(0.75)), f(1.0));
    assert_eq!(to(F16, F16, rounded(Rounding::MinusInt))(0xb800), 0xbc00);
    // Out of range: infinity, or the largest number when rounding towards zero.
    assert_eq!(to(F16, F32, rounded(Rounding::Nearest))(f(65520.0)), 0x7c00);
    assert_eq!(to(F16, F32, rounded(Rounding::Nearest))(f(65519.9)), 0x7bff);
    assert_eq!(to(F16, F32, rounded(Rounding::Zero))(f(1e9)), 0x7bff);
}

#[test]
fn limits_of_narrow_floats() {
    let nearest = rounded(Rounding::Nearest);
    let relu = Mode { relu: true, ..nearest };
    let satfinite = Mode { satfinite: true, ..nearest };
    let f = |x: f32| u64::from(x.to_bits());
    assert_eq!([f(-1.0), f(-0.0), f(2.0), f(f32::NAN)].map(to(F16, F32, relu)), [0, 0, 0x4000, 0x7fff]);
    assert_eq!([f(1e9), f(f32::NEG_INFINITY), f(f32::NAN)].map(to(F16, F32, satfinite)), [0x7bff, 0xfbff, 0x7fff]);
    assert_eq!([f(f32::MAX), f(f32::INFINITY)].map(to(Bf16, F32, satfinite)), [0x7f7f, 0x7f7f]);
    let pack = convert_pack(F16x2, F32, nearest).unwrap();
    assert_eq!(pack(f(1.0), f(-2.0)), 0x3c00_c000);
    let pack = convert_pack(Bf16x2, F32, Mode { relu: true, ..rounded(Rounding::Zero) }).unwrap();
    assert_eq!(pack(f(-1.0), 0x3f80_ffff), 0x0000_3f80);
    // tf32 keeps 10 bits: ties away, or to even.
    let tie = 0x3f80_1000;
    assert_eq!(to(Tf32, F32, rounded(Rounding::NearestAway))(tie), 0x3f80_2000);
    assert_eq!(to(Tf32, F32, nearest)(tie), 0x3f80_0000);
    assert_eq!(to(Tf32, F32, rounded(Rounding::NearestAway))(0xffa0_1234), 0xffa0_0000);
    assert_eq!(to(Tf32, F32, satfinite)(f(f32::INFINITY)), 0x7f7f_e000);
}

/// The value of an 8-bit float, from the definition; `None` for NaN.
fn eight_bits(ty: ScalarType, bits: u64) -> Option<f64> {
    let (fraction, bias) = if ty == E4m3x2 { (3, 7) } else { (2, 15) };
    let magnitude = bits & 0x7f;
    let (exponent, low) = ((magnitude >> fraction) as i32, (magnitude & ((1 << fraction) - 1)) as f64);
    let low = low / f64::from(1 << fraction);
    let value = match (ty, magnitude) {
        (E4m3x2, 0x7f) | (E5m2x2, 0x7d..=0x7f) => return None,
        (E5m2x2, 0x7c) => f64::INFINITY,
        _ if exponent == 0 => low * f64::powi(2.0, 1 - bias),
        _ => (1.0 + low) * f64::powi(2.0, exponent - bias),
    };
    Some(if bits & 0x80 == 0 { value } else { -value })
}

/// What an f64 should become: the nearest of all finite ones, ties to the even pattern.
fn nearest_eight_bits(ty: ScalarType, x: f64) -> u64 {
    let max = if ty == E4m3x2 { 0x7e } else { 0x7b };
    if x.is_nan() {
        return 0x7f;
    }
    let sign = if x.is_sign_negative() { 0x80 } else { 0 };
    let distance = |bits: u64| (eight_bits(ty, bits).unwrap() - x.abs()).abs();
    let best = (0..=max).min_by(|&a, &b| distance(a).total_cmp(&distance(b)).then((a & 1).cmp(&(b & 1)))).unwrap();
    sign | if x.is_infinite() { max } else { best }
}

#[test]
fn every_eight_bit_float() {
    for ty in [E4m3x2, E5m2x2] {
        let widen = to(F16x2, ty, rounded(Rounding::Nearest));
        let relu = to(F16x2, ty, Mode { relu: true, ..rounded(Rounding::Nearest) });
        let narrow = to(ty, F16x2, Mode { satfinite: true, ..rounded(Rounding::Nearest) });
        let half = to(F64, F16, Mode::plain());
        for bits in 0..256 {
            let wide = widen(bits << 8 | 0x38);
            let upper = wide >> 16;
            match eight_bits(ty, bits) {
                Some(value) => assert_eq!(f64::from_bits(half(upper)).to_bits(), value.to_bits(), "{ty:?} {bits:02x}"),
                None => assert_eq!(upper, 0x7fff),
            }
            let negative = bits & 0x80 != 0 && eight_bits(ty, bits).is_some();
            assert_eq!(relu(bits) & 0xffff, if negative { 0 } else { widen(bits) & 0xffff });
            // Back: the same, NaN canonical and infinity saturated.
            let back = match eight_bits(ty, bits) {
                None => 0x7f,
                Some(x) if x.is_infinite() => bits & 0x80 | 0x7b,
                Some(_) => bits,
            };
            assert_eq!(narrow(wide), back << 8 | 0x38, "{ty:?} {bits:02x}");
        }
    }
}

#[test]
fn every_half_to_eight_bits() {
    for ty in [E4m3x2, E5m2x2] {
        let mode = Mode { satfinite: true, ..rounded(Rounding::Nearest) };
        let (narrow, relu) = (to(ty, F16x2, mode), to(ty, F16x2, Mode { relu: true, ..mode }));
        let pack = convert_pack(ty, F32, mode).unwrap();
        let (single, double) = (to(F32, F16, Mode::plain()), to(F64, F16, Mode::plain()));
        for bits in 0..0x1_0000 {
            let expected = nearest_eight_bits(ty, f64::from_bits(double(bits)));
            assert_eq!(narrow(bits << 16) >> 8, expected, "{ty:?} {bits:04x}");
            assert_eq!(pack(single(bits), 0), expected << 8, "{ty:?} {bits:04x}");
            let clamped = if expected & 0x80 != 0 { 0 } else { expected };
            assert_eq!(relu(bits), clamped, "{ty:?} {bits:04x}");
        }
    }
}

#[test]
fn singles_near_ties_to_eight_bits() {
    for ty in [E4m3x2, E5m2x2] {
        let pack = convert_pack(ty, F32, Mode { satfinite: true, ..rounded(Rounding::Nearest) }).unwrap();
        for bits in 0..0x7b {
            let (low, high) = (eight_bits(ty, bits).unwrap(), eight_bits(ty, bits + 1).unwrap());
            let tie = ((low + high) / 2.0) as f32;
            for x in [tie, tie.next_up(), tie.next_down(), -tie] {
                let expected = nearest_eight_bits(ty, f64::from(x));
                assert_eq!(pack(0, u64::from(x.to_bits())), expected, "{ty:?} {x:e}");
            }
        }
    }
}

#[test]
fn what_ptx_has_not_is_not_found() {
    assert!(convert_pack(F16x2, F64, rounded(Rounding::Nearest)).is_none());
    assert!(convert_pack(E4m3x2, F32, rounded(Rounding::Zero)).is_none());
    assert!(convert(F32, Pred, Mode::plain()).is_none());
    assert!(convert(F16, F32, rounded(Rounding::Stochastic)).is_none());
}
