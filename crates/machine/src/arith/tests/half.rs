use fusion_ptx::ast::{Accuracy, Binary, Mode, ScalarType, Ternary, Unary};
use rustc_apfloat::Float;
use rustc_apfloat::ieee::{BFloat, Half};

use super::Random;
use crate::arith::half::{Bf16, F16, Half as Format};
use crate::arith::{binary, ternary, unary};

const ROUND: rustc_apfloat::Round = rustc_apfloat::Round::NearestTiesToEven;

/// All results of the four operations on `ty`, against apfloat's `F`.
fn check<F: Float>(ty: ScalarType, packed: ScalarType, seed: u64) {
    let f = |bits: u64| F::from_bits(u128::from(bits));
    let canonical = |x: F| if x.is_nan() { 0x7fff } else { x.to_bits() as u64 };
    let of = |op| binary(op, ty, Mode::plain()).unwrap();
    let (add, sub, mul) = (of(Binary::Add), of(Binary::Sub), of(Binary::Mul));
    let fma = ternary(Ternary::Fma, ty, Mode::plain()).unwrap();
    let fma2 = ternary(Ternary::Fma, packed, Mode::plain()).unwrap();
    let relu = ternary(Ternary::Fma, ty, Mode { relu: true, ..Mode::plain() }).unwrap();
    let mut random = Random(seed);
    let mut previous = (0, 0, 0, 0);
    for _ in 0..200_000 {
        let x = random.next();
        // Half of the time the exponents lie close together.
        let near = |bits: u64| if x >> 63 == 0 { bits } else { bits & 0x87ff | 0x3800 };
        let (a, b, c) = (near(x & 0xffff), near(x >> 16 & 0xffff), near(x >> 32 & 0xffff));
        let context = || format!("{ty:?} {a:04x} {b:04x} {c:04x}");
        assert_eq!(add(a, b), canonical(f(a).add_r(f(b), ROUND).value), "add {}", context());
        assert_eq!(sub(a, b), canonical(f(a).sub_r(f(b), ROUND).value), "sub {}", context());
        assert_eq!(mul(a, b), canonical(f(a).mul_r(f(b), ROUND).value), "mul {}", context());
        let result = canonical(f(a).mul_add_r(f(b), f(c), ROUND).value);
        assert_eq!(fma(a, b, c), result, "fma {}", context());
        let clamped = if result & 0x8000 != 0 { 0 } else { result };
        assert_eq!(relu(a, b, c), clamped, "fma.relu {}", context());
        let (pa, pb, pc, presult) = previous;
        assert_eq!(fma2(pa << 16 | a, pb << 16 | b, pc << 16 | c), presult << 16 | result);
        previous = (a, b, c, result);
    }
}

#[test]
fn f16_operations_round_once() {
    check::<Half>(ScalarType::F16, ScalarType::F16x2, 11);
}

#[test]
fn bf16_operations_round_once() {
    check::<BFloat>(ScalarType::Bf16, ScalarType::Bf16x2, 12);
}

/// A product of two bf16 can be a tie of bf16, which the smallest addend must break, and f16 sums can
/// straddle more bits than f32 has.
#[test]
fn fused_ties_are_broken_by_the_addend() {
    let fma = |ty| ternary(Ternary::Fma, ty, Mode::plain()).unwrap();
    // 1.0078125 * 1.5 = 1.51171875, half-way between 1.5078125 and 1.515625.
    let bf16 = fma(ScalarType::Bf16);
    assert_eq!(bf16(0x3f81, 0x3fc0, 0), 0x3fc2);
    assert_eq!(bf16(0x3f81, 0x3fc0, 0x0001), 0x3fc2);
    assert_eq!(bf16(0x3f81, 0x3fc0, 0x8001), 0x3fc1);
    let f16 = fma(ScalarType::F16);
    // (1 + 2^-10) * 1.5 = 1.5 + 1.5 * 2^-10
    assert_eq!(f16(0x3c01, 0x3e00, 0), 0x3e02);
    assert_eq!(f16(0x3c01, 0x3e00, 0x8001), 0x3e01);
}

#[test]
fn widening_and_narrowing_are_inverse() {
    fn check<T: Format>(name: &str) {
        for bits in 0..=0xffffu16 {
            let nan = bits & 0x7fff > T::INFINITY;
            assert_eq!(T::widen(bits).is_nan(), nan, "{name} {bits:04x}");
            assert_eq!(T::narrow(T::widen(bits)), if nan { 0x7fff } else { bits }, "{name} {bits:04x}");
        }
    }
    check::<F16>("f16");
    check::<Bf16>("bf16");
    for bits in 0..=0xffff {
        let crate_half = ::half::f16::from_bits(bits);
        if !crate_half.is_nan() {
            assert_eq!(F16::widen(bits), crate_half.to_f32());
        }
    }
}

#[test]
fn narrowing_rounds_as_the_half_crate_does() {
    let mut random = Random(13);
    for _ in 0..500_000 {
        let x = f32::from_bits(random.f32() as u32);
        if !x.is_nan() {
            assert_eq!(F16::narrow(x), ::half::f16::from_f32_const(x).to_bits(), "{x:e}");
            assert_eq!(Bf16::narrow(x), ::half::bf16::from_f32(x).to_bits(), "{x:e}");
        }
    }
}

#[test]
fn special_values() {
    let mode = Mode::plain();
    let ftz = Mode { ftz: true, ..mode };
    let two = |op, mode, a, b| binary(op, ScalarType::F16, mode).unwrap()(a, b);
    let one = |op, mode, a| unary(op, ScalarType::F16, mode).unwrap()(a);
    assert_eq!(two(Binary::Min, mode, 0x7e00, 0x3c00), 0x3c00);
    assert_eq!(two(Binary::Min, Mode { nan: true, ..mode }, 0x7e00, 0x3c00), 0x7fff);
    assert_eq!(two(Binary::Max, mode, 0x8000, 0x0000), 0x0000);
    assert_eq!(two(Binary::Max, mode, 0x7e00, 0xfe01), 0x7fff);
    assert_eq!(two(Binary::Min, Mode { xorsign_abs: true, ..mode }, 0xbc00, 0x4000), 0xbc00);
    assert_eq!(two(Binary::Add, Mode { sat: true, ..mode }, 0x3c00, 0x3c00), 0x3c00);
    assert_eq!(two(Binary::Add, Mode { sat: true, ..mode }, 0x7e00, 0x3c00), 0);
    assert_eq!(two(Binary::Add, ftz, 0x0001, 0x0001), 0);
    // Below the smallest normal number by half a subnormal's last place, and by half of an 11-bit number's.
    assert_eq!(two(Binary::Mul, ftz, 0x07ff, 0x3800), 0);
    assert_eq!(two(Binary::Mul, ftz, 0x87ff, 0x3800), 0x8000);
    assert_eq!(two(Binary::Mul, ftz, 0x0420, 0x3bc0), 0);
    assert_eq!(two(Binary::Mul, ftz, 0x8401, 0x3bfe), 0x8400);
    assert_eq!(two(Binary::Mul, ftz, 0x0400, 0x3800), 0);
    assert_eq!(two(Binary::Mul, mode, 0x0400, 0x3800), 0x0200);
    assert_eq!(one(Unary::Neg, mode, 0x0000), 0x8000);
    assert_eq!(one(Unary::Neg, ftz, 0x0001), 0x8000);
    assert_eq!(one(Unary::Abs, mode, 0xfc00), 0x7c00);
    assert_eq!(one(Unary::Neg, mode, 0x7e01), 0x7fff);
    assert_eq!(unary(Unary::Neg, ScalarType::F16x2, mode).unwrap()(0x3c00_bc00), 0xbc00_3c00);
    assert_eq!(unary(Unary::Neg, ScalarType::Bf16, mode).unwrap()(0x3f80), 0xbf80);
}

/// ex2 and tanh of every 16-bit number are what an H200 gives, by the FNV-1a hash of all results in order.
#[test]
fn functions_of_every_half() {
    let approx = Mode { accuracy: Accuracy::Approx, ..Mode::plain() };
    let ftz = Mode { ftz: true, ..approx };
    for (ty, op, mode, expected) in [
        (ScalarType::F16, Unary::Ex2, approx, 0x80729ac6ad55e21a),
        (ScalarType::Bf16, Unary::Ex2, ftz, 0x70809a4dea78138a),
        (ScalarType::F16, Unary::Tanh, approx, 0xad1f254087177b9d),
        (ScalarType::Bf16, Unary::Tanh, approx, 0x0483e97475bf5a09),
    ] {
        let f = unary(op, ty, mode).unwrap();
        let hash =
            (0..=0xffffu64).fold(0xcbf2_9ce4_8422_2325u64, |hash, x| (hash ^ f(x)).wrapping_mul(0x0100_0000_01b3));
        assert_eq!(hash, expected, "{ty:?} {op:?}: {hash:#018x}");
    }
}
