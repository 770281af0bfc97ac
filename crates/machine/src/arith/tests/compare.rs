use fusion_ptx::ast::{Compare, ScalarType, TestProperty};

use super::F32;
use crate::arith::{compare, set_value, slct, testp};

const ORDERED: [Compare; 6] = [Compare::Eq, Compare::Ne, Compare::Lt, Compare::Le, Compare::Gt, Compare::Ge];
const UNORDERED: [Compare; 6] = [Compare::Equ, Compare::Neu, Compare::Ltu, Compare::Leu, Compare::Gtu, Compare::Geu];

#[test]
fn floats_compare_with_and_without_nan() {
    for a in F32 {
        for b in F32 {
            let (x, y) = (f32::from_bits(a), f32::from_bits(b));
            let of = |cmp| compare(cmp, ScalarType::F32, false).unwrap()(a.into(), b.into());
            let nan = x.is_nan() || y.is_nan();
            // Rust's own `!=` is the unordered one.
            let expected = [x == y, !nan && x != y, x < y, x <= y, x > y, x >= y];
            assert_eq!(ORDERED.map(of), expected, "{x:e} {y:e}");
            assert_eq!(UNORDERED.map(of), expected.map(|e| e || nan), "{x:e} {y:e}");
            assert_eq!((of(Compare::Num), of(Compare::Nan)), (!nan, nan));
        }
    }
}

#[test]
fn flushed_subnormals_are_zero() {
    let eq = |ty, ftz, a, b| compare(Compare::Eq, ty, ftz).unwrap()(a, b);
    assert!(!eq(ScalarType::F32, false, 1, 0));
    assert!(eq(ScalarType::F32, true, 1, 0x8000_0002));
    assert!(!eq(ScalarType::F16, false, 1, 0));
    assert!(eq(ScalarType::F16, true, 1, 0x8002));
    assert!(!eq(ScalarType::Bf16, true, 1, 0));
    // Of a packed register, the low halves.
    assert!(eq(ScalarType::F16x2, false, 0x1234_3c00, 0x4321_3c00));
}

#[test]
fn integers_compare_as_their_type() {
    let of = |cmp, ty| compare(cmp, ty, false).map(|f| f(0xffff_ffff, 1));
    assert_eq!(of(Compare::Lt, ScalarType::S32), Some(true));
    assert_eq!(of(Compare::Lt, ScalarType::U32), Some(false));
    assert_eq!(of(Compare::Hi, ScalarType::U32), Some(true));
    assert_eq!(of(Compare::Hs, ScalarType::U32), Some(true));
    assert_eq!(of(Compare::Lo, ScalarType::U32), Some(false));
    assert_eq!(of(Compare::Ls, ScalarType::B32), Some(false));
    assert_eq!(of(Compare::Lt, ScalarType::S16), Some(true));
    assert_eq!(of(Compare::Lt, ScalarType::S64), Some(false));
    assert_eq!(of(Compare::Ltu, ScalarType::S32), None);
    assert_eq!(compare(Compare::Lo, ScalarType::F32, false).map(|f| f(0, 0)), None);
}

#[test]
fn set_writes_ones_or_one() {
    assert_eq!(set_value(ScalarType::U32), Some(0xffff_ffff));
    assert_eq!(set_value(ScalarType::F32), Some(0x3f80_0000));
    assert_eq!(set_value(ScalarType::F16x2), Some(0x3c00_3c00));
    assert_eq!(set_value(ScalarType::U64), None);
}

#[test]
fn properties_of_floats() {
    use TestProperty::*;
    let of = |x: u32| {
        [Finite, Infinite, Number, NotANumber, Normal, Subnormal].map(|p| testp(p, ScalarType::F32).unwrap()(x.into()))
    };
    assert_eq!(of(0x8000_0000), [true, false, true, false, true, false]);
    assert_eq!(of(0x0000_0001), [true, false, true, false, false, true]);
    assert_eq!(of(0x3f80_0000), [true, false, true, false, true, false]);
    assert_eq!(of(0xff80_0000), [false, true, true, false, false, false]);
    assert_eq!(of(0x7fc0_0000), [false, false, false, true, false, false]);
    assert!(testp(Subnormal, ScalarType::F64).unwrap()(1));
}

#[test]
fn selecting_by_sign() {
    let s32 = slct(ScalarType::S32, false).unwrap();
    assert_eq!([0, 1, 0xffff_ffff].map(s32), [true, true, false]);
    let f32 = slct(ScalarType::F32, false).unwrap();
    assert_eq!([0, 0x8000_0000, 0x8000_0001, 0x7fc0_0000].map(f32), [true, true, false, false]);
    assert!(slct(ScalarType::F32, true).unwrap()(0x8000_0001));
}
