use fusion_ptx::ast::{Accuracy, Binary, Mode, ScalarType, Unary};

use super::Random;
use crate::arith::{binary, unary};

const APPROX: Mode = Mode {
    rounding: None,
    accuracy: Accuracy::Approx,
    ftz: false,
    sat: false,
    satfinite: false,
    relu: false,
    nan: false,
    xorsign_abs: false,
    carry_out: false,
    carry_in: false,
    oob: false,
};

fn f32_of(op: Unary, ftz: bool) -> impl Fn(f32) -> f32 {
    let f = unary(op, ScalarType::F32, Mode { ftz, ..APPROX }).unwrap();
    move |x| f32::from_bits(f(u64::from(x.to_bits())) as u32)
}

/// Largest distance from the exact function on `n` arguments between `low` and `high`, relative or absolute.
fn worst(op: Unary, exact: fn(f64) -> f64, low: f32, high: f32, relative: bool) -> f64 {
    let f = f32_of(op, false);
    let mut random = Random(21);
    let mut worst = 0f64;
    for _ in 0..100_000 {
        let share = (random.next() >> 11) as f64 / (1u64 << 53) as f64;
        let x = (f64::from(low) + share * (f64::from(high) - f64::from(low))) as f32;
        let expected = exact(f64::from(x));
        let error = (f64::from(f(x)) - expected).abs();
        worst = worst.max(if relative { error / expected.abs().max(f64::from(f32::MIN_POSITIVE)) } else { error });
    }
    worst
}

/// Nearest f32 is within 2^-24; the functions may add next to nothing to that.
const NEAREST: f64 = 5.97e-8;

#[test]
fn functions_are_as_good_as_rounded() {
    for (op, exact, low, high) in [
        (Unary::Ex2, libm::exp2 as fn(f64) -> f64, -126.0, 127.9),
        (Unary::Ex2, libm::exp2, -1.0, 1.0),
        (Unary::Lg2, libm::log2, 1e-30, 10.0),
        (Unary::Lg2, libm::log2, 0.9, 1.1),
        (Unary::Lg2, libm::log2, 0.9999, 1.0001),
        (Unary::Lg2, libm::log2, 1.0, 3e38),
        (Unary::Tanh, libm::tanh, -10.0, 10.0),
        (Unary::Tanh, libm::tanh, -0.6, 0.6),
        (Unary::Tanh, libm::tanh, -1e-3, 1e-3),
        (Unary::Sin, libm::sin, -1.5, 1.5),
        (Unary::Rsqrt, |x| 1.0 / x.sqrt(), 1e-38, 1e3),
        (Unary::Rcp, |x| 1.0 / x, 1e-3, 1e3),
        (Unary::Sqrt, f64::sqrt, 0.0, 1e3),
    ] {
        let error = worst(op, exact, low, high, true);
        assert!(error < NEAREST, "{op:?} on {low}..{high}: {error:e}");
    }
    for (op, exact, range) in [
        (Unary::Sin, libm::sin as fn(f64) -> f64, 3.15),
        (Unary::Cos, libm::cos, 3.15),
        (Unary::Sin, libm::sin, 1e4),
        (Unary::Cos, libm::cos, 1e4),
    ] {
        let error = worst(op, exact, -range, range, false);
        assert!(error < NEAREST, "{op:?} within {range}: {error:e}");
    }
}

/// The manual's tables of special arguments (PTX ISA 9.7.3).
#[test]
fn special_arguments() {
    const INF: f32 = f32::INFINITY;
    const SUBNORMAL: f32 = 1e-40;
    let nan = f32::from_bits(0x7fff_ffff);
    for (op, ftz, argument, expected) in [
        (Unary::Ex2, false, -INF, 0.0),
        (Unary::Ex2, false, -SUBNORMAL, 1.0),
        (Unary::Ex2, true, -SUBNORMAL, 1.0),
        (Unary::Ex2, false, 0.0, 1.0),
        (Unary::Ex2, false, -0.0, 1.0),
        (Unary::Ex2, false, INF, INF),
        (Unary::Ex2, false, f32::NAN, nan),
        (Unary::Ex2, false, 128.0, INF),
        (Unary::Ex2, false, -149.0, f32::from_bits(1)),
        (Unary::Ex2, true, -149.0, 0.0),
        (Unary::Lg2, false, -INF, nan),
        (Unary::Lg2, false, -1.0, nan),
        (Unary::Lg2, true, -SUBNORMAL, -INF),
        (Unary::Lg2, true, SUBNORMAL, -INF),
        (Unary::Lg2, false, f32::from_bits(1), -149.0),
        (Unary::Lg2, false, -0.0, -INF),
        (Unary::Lg2, false, 0.0, -INF),
        (Unary::Lg2, false, 1.0, 0.0),
        (Unary::Lg2, false, 8.0, 3.0),
        (Unary::Lg2, false, INF, INF),
        (Unary::Rcp, false, -INF, -0.0),
        (Unary::Rcp, false, -0.0, -INF),
        (Unary::Rcp, true, SUBNORMAL, INF),
        (Unary::Rcp, true, -SUBNORMAL, -INF),
        (Unary::Rcp, true, 3e38, 0.0),
        (Unary::Rcp, false, INF, 0.0),
        (Unary::Rcp, false, f32::NAN, nan),
        (Unary::Rsqrt, false, -0.0, -INF),
        (Unary::Rsqrt, false, 0.0, INF),
        (Unary::Rsqrt, true, -SUBNORMAL, -INF),
        (Unary::Rsqrt, false, -1.0, nan),
        (Unary::Rsqrt, false, INF, 0.0),
        (Unary::Rsqrt, false, -INF, nan),
        (Unary::Sqrt, false, -0.0, -0.0),
        (Unary::Sqrt, true, -SUBNORMAL, -0.0),
        (Unary::Sqrt, false, -1.0, nan),
        (Unary::Sqrt, false, INF, INF),
        (Unary::Sin, false, INF, nan),
        (Unary::Sin, false, -0.0, -0.0),
        (Unary::Sin, false, SUBNORMAL, SUBNORMAL),
        (Unary::Sin, true, -SUBNORMAL, -0.0),
        (Unary::Cos, false, -INF, nan),
        (Unary::Cos, false, -0.0, 1.0),
        (Unary::Cos, true, SUBNORMAL, 1.0),
        (Unary::Tanh, false, INF, 1.0),
        (Unary::Tanh, false, -INF, -1.0),
        (Unary::Tanh, false, -0.0, -0.0),
        (Unary::Tanh, false, SUBNORMAL, SUBNORMAL),
        (Unary::Tanh, false, f32::NAN, nan),
    ] {
        let result = f32_of(op, ftz)(argument);
        assert_eq!(result.to_bits(), expected.to_bits(), "{op:?} ftz={ftz} {argument:e}: {result:e}, not {expected:e}");
    }
    for x in [1e10, -3e38, 1e30] {
        assert!(f32_of(Unary::Sin, false)(x).abs() <= 1.0);
        assert!(f32_of(Unary::Cos, false)(x).abs() <= 1.0);
    }
}

#[test]
fn quotients() {
    let of = |accuracy, ftz| {
        let f = binary(Binary::Div, ScalarType::F32, Mode { accuracy, ftz, ..APPROX }).unwrap();
        move |a: f32, b: f32| f32::from_bits(f(u64::from(a.to_bits()), u64::from(b.to_bits())) as u32)
    };
    let approx = of(Accuracy::Approx, false);
    let full = of(Accuracy::Full, false);
    assert_eq!(approx(1.0, 3.0), 1.0 / 3.0);
    // Beyond 2^126 the reciprocal has no room.
    assert_eq!(approx(1e38, 2e38).to_bits(), 0);
    assert_eq!(approx(-1e38, 2e38).to_bits(), 0x8000_0000);
    assert_eq!(approx(f32::INFINITY, 2e38).to_bits(), 0x7fff_ffff);
    assert_eq!(full(1e38, 2e38), 0.5);
    assert_eq!(approx(1.0, 0.0), f32::INFINITY);
    assert_eq!(approx(0.0, 0.0).to_bits(), 0x7fff_ffff);
    assert_eq!(approx(5.0, f32::INFINITY), 0.0);
    assert_eq!(of(Accuracy::Approx, true)(1e-38, 100.0).to_bits(), 0);
    assert_eq!(of(Accuracy::Full, true)(1.0, -1e-40), f32::NEG_INFINITY);
}

#[test]
fn doubles_of_twenty_bits() {
    let rcp = unary(Unary::Rcp, ScalarType::F64, Mode { ftz: true, ..APPROX }).unwrap();
    let rsqrt = unary(Unary::Rsqrt, ScalarType::F64, Mode { ftz: true, ..APPROX }).unwrap();
    let mut random = Random(22);
    for _ in 0..10_000 {
        let x = f64::from_bits(random.next() & 0x001f_ffff_ffff_ffff | 0x3fe0_0000_0000_0000);
        for (f, exact) in [(rcp, 1.0 / x), (rsqrt, 1.0 / x.sqrt())] {
            let bits = f(x.to_bits());
            assert_eq!(bits as u32, 0);
            assert!((f64::from_bits(bits) / exact - 1.0).abs() < f64::powi(2.0, -20));
        }
    }
    assert_eq!(f64::from_bits(rcp(1e-310f64.to_bits())), f64::INFINITY);
    assert_eq!(f64::from_bits(rsqrt((-0f64).to_bits())), f64::NEG_INFINITY);
}
