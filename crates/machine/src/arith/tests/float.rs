use fusion_ptx::ast::{Accuracy, Binary, Mode, Rounding, ScalarType, Ternary, Unary};
use rustc_apfloat::Float;
use rustc_apfloat::ieee::{Double, Single};

use super::{DIRECTIONS, F32, Random, apfloat_round, rounded};
use crate::arith::round::RN;
use crate::arith::{binary, convert, single, ternary, unary};

const ROUNDS: usize = 40_000;

/// The bits that we promise for an apfloat result.
fn single_bits(x: Single) -> u64 {
    if x.is_nan() { 0x7fff_ffff } else { x.to_bits() as u64 }
}

/// NaN payloads of f64 have a test of their own.
fn double_bits(x: Double) -> u64 {
    if x.is_nan() { u64::MAX } else { x.to_bits() as u64 }
}

fn without_payload(bits: u64) -> u64 {
    if f64::from_bits(bits).is_nan() { u64::MAX } else { bits }
}

#[test]
fn f32_rounds_every_way() {
    let mut random = Random(1);
    let f = |bits: u64| Single::from_bits(u128::from(bits));
    for rounding in DIRECTIONS {
        let (mode, round) = (rounded(rounding), apfloat_round(rounding));
        let of = |op| binary(op, ScalarType::F32, mode).unwrap();
        let (add, sub, mul, div) = (of(Binary::Add), of(Binary::Sub), of(Binary::Mul), of(Binary::Div));
        let fma = ternary(Ternary::Fma, ScalarType::F32, mode).unwrap();
        let rcp = unary(Unary::Rcp, ScalarType::F32, mode).unwrap();
        for _ in 0..ROUNDS {
            let (a, b, c) = (random.f32(), random.f32(), random.f32());
            let context = || format!("{rounding:?} {a:08x} {b:08x} {c:08x}");
            assert_eq!(add(a, b), single_bits(f(a).add_r(f(b), round).value), "add {}", context());
            assert_eq!(sub(a, b), single_bits(f(a).sub_r(f(b), round).value), "sub {}", context());
            assert_eq!(mul(a, b), single_bits(f(a).mul_r(f(b), round).value), "mul {}", context());
            assert_eq!(div(a, b), single_bits(f(a).div_r(f(b), round).value), "div {}", context());
            assert_eq!(fma(a, b, c), single_bits(f(a).mul_add_r(f(b), f(c), round).value), "fma {}", context());
            assert_eq!(rcp(a), div(0x3f80_0000, a), "rcp {}", context());
        }
    }
}

#[test]
fn all_ways_to_fuse_agree() {
    let mut random = Random(6);
    for _ in 0..ROUNDS / 4 {
        let [a, b, c]: [[u32; 4]; 3] = std::array::from_fn(|_| std::array::from_fn(|_| random.f32() as u32));
        let (plain, ftz) = (single::fma_lanes::<false, 4>(&a, &b, &c), single::fma_lanes::<true, 4>(&a, &b, &c));
        assert_eq!(plain, single::fma_lanes_native::<false, 4>(&a, &b, &c), "{a:08x?} {b:08x?} {c:08x?}");
        assert_eq!(ftz, single::fma_lanes_native::<true, 4>(&a, &b, &c), "ftz {a:08x?} {b:08x?} {c:08x?}");
        for i in 0..4 {
            let [x, y, z] = [a[i], b[i], c[i]].map(f32::from_bits);
            assert_eq!(plain[i], single::fma::<RN, false, false>(x, y, z).to_bits(), "{x:e} {y:e} {z:e}");
            assert_eq!(ftz[i], single::fma::<RN, true, false>(x, y, z).to_bits(), "ftz {x:e} {y:e} {z:e}");
        }
    }
}

#[test]
fn f64_rounds_every_way() {
    let mut random = Random(2);
    let f = |bits: u64| Double::from_bits(u128::from(bits));
    for rounding in DIRECTIONS {
        let (mode, round) = (rounded(rounding), apfloat_round(rounding));
        let of = |op| binary(op, ScalarType::F64, mode).unwrap();
        let (add, sub, mul, div) = (of(Binary::Add), of(Binary::Sub), of(Binary::Mul), of(Binary::Div));
        let fma = ternary(Ternary::Fma, ScalarType::F64, mode).unwrap();
        for _ in 0..ROUNDS {
            let (a, b, c) = (random.f64(), random.f64(), random.f64());
            let context = || format!("{rounding:?} {a:016x} {b:016x} {c:016x}");
            assert_eq!(without_payload(add(a, b)), double_bits(f(a).add_r(f(b), round).value), "add {}", context());
            assert_eq!(without_payload(sub(a, b)), double_bits(f(a).sub_r(f(b), round).value), "sub {}", context());
            assert_eq!(without_payload(mul(a, b)), double_bits(f(a).mul_r(f(b), round).value), "mul {}", context());
            assert_eq!(without_payload(div(a, b)), double_bits(f(a).div_r(f(b), round).value), "div {}", context());
            let sum = f(a).mul_add_r(f(b), f(c), round).value;
            assert_eq!(without_payload(fma(a, b, c)), double_bits(sum), "fma {}", context());
        }
    }
}

/// A square root is right when the squares of its neighbours lie on the right sides of the operand.
#[test]
fn square_roots_round_every_way() {
    let mut random = Random(3);
    let of = |ty, rounding| unary(Unary::Sqrt, ty, rounded(rounding)).unwrap();
    let f32s = DIRECTIONS.map(|rounding| of(ScalarType::F32, rounding));
    let f64s = DIRECTIONS.map(|rounding| of(ScalarType::F64, rounding));
    for _ in 0..ROUNDS {
        let x = f32::from_bits(random.f32() as u32 & 0x7fff_ffff);
        if x.is_finite() && x > 0.0 {
            let [near, zero, minus, plus] = f32s.map(|f| f32::from_bits(f(u64::from(x.to_bits())) as u32));
            let square = |x: f32| f64::from(x) * f64::from(x);
            assert!(square(minus) <= f64::from(x) && square(minus.next_up()) > f64::from(x), "{x:e}");
            assert!(square(plus) >= f64::from(x) && square(plus.next_down()) < f64::from(x), "{x:e}");
            assert_eq!((zero, near), (minus, x.sqrt()));
        }
        let x = f64::from_bits(random.f64() & !(1 << 63));
        if x.is_normal() && x < 1e300 && x > 1e-200 {
            let [near, zero, minus, plus] = f64s.map(|f| f64::from_bits(f(x.to_bits())));
            // The sign of a fused residual is exact.
            let above = |root: f64| (-root).mul_add(root, x);
            assert!(above(minus) >= 0.0 && above(minus.next_up()) < 0.0, "{x:e}");
            assert!(above(plus) <= 0.0 && above(plus.next_down()) > 0.0, "{x:e}");
            assert_eq!((zero, near), (minus, x.sqrt()));
        }
    }
    for f in f32s {
        assert_eq!(f(0x8000_0000), 0x8000_0000);
        assert_eq!(f(0xbf80_0000), 0x7fff_ffff);
        assert_eq!(f(0x7f80_0000), 0x7f80_0000);
    }
}

/// `.ftz` is the plain operation on flushed operands, its result flushed; `.sat` clamps afterwards. Of a product that is rounded to the
/// smallest normal number another test asks more.
#[test]
fn flushing_and_saturating() {
    let flush = |x: u64| if x & 0x7f80_0000 == 0 { x & 0x8000_0000 } else { x };
    let saturate = |x: u64| {
        let x = f32::from_bits(x as u32);
        u64::from(if x > 0.0 { x.min(1.0).to_bits() } else { 0 })
    };
    let mut random = Random(4);
    for rounding in DIRECTIONS {
        let plain = rounded(rounding);
        for op in [Binary::Add, Binary::Sub, Binary::Mul] {
            let of = |mode| binary(op, ScalarType::F32, mode).unwrap();
            let (exact, ftz) = (of(plain), of(Mode { ftz: true, ..plain }));
            let (sat, both) = (of(Mode { sat: true, ..plain }), of(Mode { sat: true, ftz: true, ..plain }));
            for _ in 0..ROUNDS / 8 {
                let (a, b) = (random.f32(), random.f32());
                let flushed = flush(exact(flush(a), flush(b)));
                if flushed & 0x7fff_ffff != 0x0080_0000 || op != Binary::Mul {
                    assert_eq!(ftz(a, b), flushed, "{op:?} {a:08x} {b:08x}");
                }
                assert_eq!(sat(a, b), saturate(exact(a, b)), "{op:?} {a:08x} {b:08x}");
                assert_eq!(both(a, b), saturate(ftz(a, b)), "{op:?} {a:08x} {b:08x}");
            }
        }
    }
}

/// What a result around the smallest normal number is with `.ftz`: the operation is done at 2^64 times the size, where nothing is subnormal.
#[test]
fn subnormal_is_what_24_bits_are() {
    let scaled = |x: u64| u64::from((f32::from_bits(x as u32) * 2f32.powi(64)).to_bits());
    let flushed = |x: u64| {
        let x = f32::from_bits(x as u32);
        u64::from(if x.abs() < 2f32.powi(-62) { 0f32.copysign(x) } else { x * 2f32.powi(-64) }.to_bits())
    };
    let mut random = Random(9);
    // Fractions near both ends, so that products come close to a power of two.
    let mut number = |exponent: i32| {
        let x = random.next();
        let fraction = [x, x & 0xfff, !(x & 0xfff), 0, 0x7f_ffff][(x >> 32) as usize % 5] & 0x7f_ffff;
        x >> 40 & 1 << 23 << 8 | u64::from((exponent + 127) as u32) << 23 | fraction
    };
    let mut differ = 0;
    for rounding in DIRECTIONS {
        let mode = rounded(rounding);
        let ftz = Mode { ftz: true, ..mode };
        for round in 0..ROUNDS {
            let (a, b, c) = (number(-63 - (round % 2) as i32), number(-63), number(-126 + (round / 2 % 2) as i32));
            let context = || format!("{rounding:?} {a:08x} {b:08x} {c:08x}");
            let mul = |mode| binary(Binary::Mul, ScalarType::F32, mode).unwrap();
            assert_eq!(mul(ftz)(a, b), flushed(mul(mode)(scaled(a), b)), "mul {}", context());
            differ += u32::from(mul(ftz)(a, b) != mul(mode)(a, b) && mul(mode)(a, b) & 0x7fff_ffff == 0x0080_0000);
            let fma = |mode| ternary(Ternary::Fma, ScalarType::F32, mode).unwrap();
            assert_eq!(fma(ftz)(a, b, c), flushed(fma(mode)(scaled(a), b, scaled(c))), "fma {}", context());
            let (div, divisor) = (|mode| binary(Binary::Div, ScalarType::F32, mode).unwrap(), b ^ 126 << 23);
            assert_eq!(div(ftz)(a, divisor), flushed(div(mode)(scaled(a), divisor)), "div {}", context());
            let cvt = |mode| convert(ScalarType::F32, ScalarType::F64, mode).unwrap();
            let x = f64::from(f32::from_bits(a as u32)) * f64::from(f32::from_bits(b as u32));
            assert_eq!(cvt(ftz)(x.to_bits()), flushed(cvt(mode)((x * 2f64.powi(64)).to_bits())), "cvt {}", context());
        }
    }
    assert!(differ > 100, "{differ}");
}

#[test]
fn f32_minimum_and_maximum() {
    const NAN: u32 = 0x7fff_ffff;
    let of = |op, mode| binary(op, ScalarType::F32, mode).unwrap();
    let plain = Mode::plain();
    let propagate = Mode { nan: true, ..plain };
    let xorsign = Mode { xorsign_abs: true, ..plain };
    let ftz = Mode { ftz: true, ..plain };
    let (min, max) = (Binary::Min, Binary::Max);
    let one = 1f32.to_bits();
    let two = 2f32.to_bits();
    let minus = 0x8000_0000;
    for (op, mode, a, b, expected) in [
        (min, plain, one, two, one),
        (max, plain, one, two, two),
        (min, plain, 0, minus, minus),
        (min, plain, minus, 0, minus),
        (max, plain, 0, minus, 0),
        (max, plain, minus, 0, 0),
        (min, plain, 0x7fc0_0000, one, one),
        (max, plain, one, 0xffff_ffff, one),
        (min, plain, 0x7f80_0001, 0xffc0_0000, NAN),
        (min, propagate, one, 0x7fc0_0000, NAN),
        (max, propagate, 0x7fc0_0000, one, NAN),
        (min, xorsign, one | minus, two, one | minus),
        (max, xorsign, one | minus, two | minus, two),
        (min, ftz, 1, minus | 2, minus),
    ] {
        let result = of(op, mode)(u64::from(a), u64::from(b)) as u32;
        assert_eq!(result, expected, "{op:?} {mode:?} {a:08x} {b:08x}: {result:08x}");
    }
    // Against the obvious rule on numbers.
    for a in F32.map(f32::from_bits).into_iter().filter(|x| !x.is_nan()) {
        for b in F32.map(f32::from_bits).into_iter().filter(|x| !x.is_nan()) {
            let key = |x: f32| (x, x.is_sign_positive());
            let (low, high) = if key(a) < key(b) { (a, b) } else { (b, a) };
            assert_eq!(of(min, plain)(a.to_bits().into(), b.to_bits().into()), u64::from(low.to_bits()), "{a} {b}");
            assert_eq!(of(max, plain)(a.to_bits().into(), b.to_bits().into()), u64::from(high.to_bits()), "{a} {b}");
        }
    }
}

#[test]
fn signs_move_and_nan_becomes_canonical() {
    let of = |op, ftz| unary(op, ScalarType::F32, Mode { ftz, ..Mode::plain() }).unwrap();
    assert_eq!(of(Unary::Neg, false)(0x3f80_0000), 0xbf80_0000);
    assert_eq!(of(Unary::Neg, false)(0x7fc1_2345), 0x7fff_ffff);
    assert_eq!(of(Unary::Abs, false)(0xffc1_2345), 0x7fff_ffff);
    assert_eq!(of(Unary::Abs, false)(0x8000_0001), 1);
    assert_eq!(of(Unary::Neg, true)(0x0000_0001), 0x8000_0000);
    assert_eq!(of(Unary::Abs, true)(0x8000_0001), 0);
    let copysign = binary(Binary::Copysign, ScalarType::F32, Mode::plain()).unwrap();
    assert_eq!(copysign(0x8000_0000, 0x3f80_0000), 0xbf80_0000);
    let copysign = binary(Binary::Copysign, ScalarType::F64, Mode::plain()).unwrap();
    assert_eq!(f64::from_bits(copysign((-0f64).to_bits(), 2f64.to_bits())), -2.0);
    assert_eq!(unary(Unary::Neg, ScalarType::F64, Mode::plain()).unwrap()(0), 1 << 63);
}

#[test]
fn f64_passes_on_a_nan_made_quiet() {
    let add = binary(Binary::Add, ScalarType::F64, Mode::plain()).unwrap();
    let mul = binary(Binary::Mul, ScalarType::F64, rounded(Rounding::Plus)).unwrap();
    let signaling = 0x7ff0_0000_0000_0042;
    let other = 0xfff8_0000_0000_0001;
    for f in [add, mul] {
        assert_eq!(f(other, signaling), 0x7ff8_0000_0000_0042);
        assert_eq!(f(signaling, 1f64.to_bits()), 0x7ff8_0000_0000_0042);
        assert_eq!(f(1f64.to_bits(), other), other);
    }
    assert_eq!(add(f64::INFINITY.to_bits(), f64::NEG_INFINITY.to_bits()), 0xfff8_0000_0000_0000);
    let min = binary(Binary::Min, ScalarType::F64, Mode::plain()).unwrap();
    assert_eq!(min(other, 1f64.to_bits()), 1f64.to_bits());
    assert_eq!(min(0, 1 << 63), 1 << 63);
}

#[test]
fn packed_pairs_are_two_singles() {
    let mut random = Random(5);
    let pair = ternary(Ternary::Fma, ScalarType::F32x2, rounded(Rounding::Nearest)).unwrap();
    let one = ternary(Ternary::Fma, ScalarType::F32, rounded(Rounding::Nearest)).unwrap();
    for _ in 0..1000 {
        let [a, b, c, d, e, f] = std::array::from_fn(|_| random.f32());
        assert_eq!(pair(a << 32 | d, b << 32 | e, c << 32 | f), one(a, b, c) << 32 | one(d, e, f));
    }
}

#[test]
fn what_ptx_has_not_is_not_found() {
    let approx = Mode { accuracy: Accuracy::Approx, ..Mode::plain() };
    assert!(unary(Unary::Sin, ScalarType::F64, approx).is_none());
    assert!(unary(Unary::Popc, ScalarType::F32, Mode::plain()).is_none());
    assert!(binary(Binary::Rem, ScalarType::F32, Mode::plain()).is_none());
    assert!(binary(Binary::Add, ScalarType::F32, rounded(Rounding::Stochastic)).is_none());
    assert!(ternary(Ternary::Fma, ScalarType::U32, Mode::plain()).is_none());
}
