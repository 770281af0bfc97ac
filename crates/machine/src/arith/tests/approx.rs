use assert_approx_eq::assert_approx_eq;
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

const fn power(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

/// The manual's bounds hold (PTX ISA 9.7.3), and no function is better than an H200's, whose largest errors stand beside.
#[test]
fn errors_are_those_of_a_gpu() {
    // An ulp is at most 2^-23 of the number.
    const ULP: f64 = power(-23);
    for (op, exact, low, high, relative, bound, measured) in [
        (Unary::Ex2, libm::exp2 as fn(f64) -> f64, -126.0, 127.9, true, 2.0 * ULP, -22.75),
        (Unary::Ex2, libm::exp2, -1.0, 1.0, true, 2.0 * ULP, -22.75),
        (Unary::Lg2, libm::log2, 1.0, 2.0, false, power(-22), -22.6),
        (Unary::Lg2, libm::log2, 2.0, 4.0, true, power(-22), -22.66),
        (Unary::Tanh, libm::tanh, -1.0, 1.0, true, power(-11), -16.45),
        (Unary::Sin, libm::sin, -6.2, 6.2, false, 1.42 * power(-21), -20.55),
        (Unary::Cos, libm::cos, -3.1, 3.1, false, 1.42 * power(-21), -21.2),
        (Unary::Rsqrt, |x| 1.0 / x.sqrt(), 1e-38, 1e3, true, 1.0718 * power(-23), -22.94),
        (Unary::Rcp, |x| 1.0 / x, 1.0, 2.0, true, ULP, -23.29),
        (Unary::Sqrt, f64::sqrt, 1.0, 4.0, true, power(-23), -23.26),
    ] {
        let error = worst(op, exact, low, high, relative);
        assert!(error <= bound, "{op:?} {low}..{high}: {error:e} > {bound:e}");
        // Of so few numbers not quite the worst.
        assert!(error.log2() >= measured - 0.5, "{op:?} {low}..{high}: {} < {measured}", error.log2());
    }
}

/// A function, whether subnormal numbers are flushed, and arguments with their results.
type Measured = (Unary, bool, &'static [(u32, u32)]);

/// Results of an NVIDIA H200: of numbers where they are not the nearest, and beside the edges of what each function
/// treats apart.
#[test]
fn results_of_an_h200() {
    let functions: &[Measured] = &[
        (
            Unary::Rcp,
            false,
            &[
                (0x0001_0001, 0x7f80_0000),
                (0x0040_0040, 0x7eff_ff00),
                (0x3f81_3f81, 0x3f7d_872a),
                (0x3fab_3fab, 0x3f3f_58f2),
                (0x7e80_7e80, 0x007f_81fc),
                (0x7e81_7e81, 0x007e_85e9),
                (0x7f7f_7f7f, 0x0020_1018),
                (0xbfc3_bfc3, 0xbf27_65e3),
            ],
        ),
        (
            Unary::Ex2,
            false,
            &[
                (0x3c8a_3c8a, 0x3f81_8186),
                (0x3f81_3f81, 0x4000_de37),
                (0x4048_4048, 0x410b_f712),
                (0xb401_b401, 0x3f7f_fffe),
                (0xbfd3_bfd3, 0x3ea2_a8c0),
                (0xc2f0_c2f0, 0x0344_9e98),
                (0xc2fd_c2fd, 0x0045_82be),
                (0xc314_c314, 0x0000_0001),
            ],
        ),
        (
            Unary::Ex2,
            true,
            &[
                (0x42ff_42ff, 0x7f46_348f),
                (0x4300_4300, 0x7f80_0000),
                (0xc2fb_c2fb, 0x008b_05dd),
                (0xc2fc_c2fc, 0x0000_0000),
            ],
        ),
        (
            Unary::Rsqrt,
            false,
            &[
                (0x0001_0001, 0x60b5_0498),
                (0x3f81_3f81, 0x3f7e_c2d0),
                (0x3fff_3fff, 0x3f35_48fc),
                (0x4001_4001, 0x3f34_2451),
                (0x407f_407f, 0x3f00_2ffb),
            ],
        ),
        (
            Unary::Sqrt,
            false,
            &[
                (0x0001_0001, 0x1e35_054e),
                (0x3f81_3f81, 0x3f80_9f5d),
                (0x3fff_3fff, 0x3fb4_c104),
                (0x4001_4001, 0x3fb5_e6ad),
                (0x407f_407f, 0x3fff_a02e),
            ],
        ),
        (
            Unary::Lg2,
            false,
            &[
                (0x0001_0001, 0xc304_fffe),
                (0x3c00_3c00, 0xc0df_ea61),
                (0x3eab_3eab, 0xbfca_402d),
                (0x3f7f_3f7f, 0xbb8b_108c),
                (0x3f80_3f80, 0x3b37_0bf0),
                (0x3f81_3f81, 0x3c65_5bca),
                (0x4049_4049, 0x3fd3_90b0),
                (0x7f7f_7f7f, 0x42ff_fe8c),
            ],
        ),
        (
            Unary::Sin,
            false,
            &[
                (0x3727_3727, 0x3726_82e8),
                (0x3e99_3e99, 0x3e96_f77a),
                (0x3f80_3f80, 0x3f57_af27),
                (0x3fd2_3fd2, 0x3f7f_5742),
                (0x4049_4049, 0xbb41_b428),
                (0x40a0_40a0, 0xbf74_e775),
                (0x4497_4497, 0xbf16_dba2),
                (0x4b12_4b12, 0xbf80_0000),
                (0xbf81_bf81, 0xbf59_490f),
            ],
        ),
        (
            Unary::Cos,
            false,
            &[
                (0x35b0_35b0, 0x3f7f_ffff),
                (0x3e99_3e99, 0x3f74_9e5b),
                (0x3f80_3f80, 0x3f09_e652),
                (0x3fc9_3fc9, 0xbabf_b79d),
                (0x4049_4049, 0xbf7f_ffb7),
                (0x40a0_40a0, 0x3e95_1a7d),
                (0x4497_4497, 0xbf4e_d3ff),
            ],
        ),
        (
            Unary::Tanh,
            false,
            &[
                (0x3b7f_3b7f, 0x3b7f_3b7f),
                (0x3b80_3b80, 0x3b80_3b80),
                (0x3c81_3c81, 0x3c81_39f0),
                (0x3dcc_3dcc, 0x3dcb_9151),
                (0x3f00_3f00, 0x3eec_fd76),
                (0x3fab_3fab, 0x3f5f_04ea),
                (0x40ff_40ff, 0x3f7f_fffb),
                (0x4100_4100, 0x3f80_0000),
                (0xbf80_bf80, 0xbf43_9821),
            ],
        ),
    ];
    for &(op, ftz, results) in functions {
        for &(argument, expected) in results {
            let result = f32_of(op, ftz)(f32::from_bits(argument)).to_bits();
            assert_eq!(result, expected, "{op:?} ftz={ftz} {argument:#010x}: {result:#010x}, not {expected:#010x}");
        }
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
        (Unary::Sin, false, SUBNORMAL, 0.0),
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
    // Of an H200: two away from the nearest.
    assert_eq!(approx(f32::from_bits(0xc3e3_dbb3), f32::from_bits(0x55fe_ff2a)).to_bits(), 0xad64_c135);
    assert_eq!(approx(f32::from_bits(0xda67_cbeb), f32::from_bits(0x3bed_1b12)).to_bits(), 0xddfa_448c); // Beyond 2^126 the reciprocal has no room.
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
            assert_approx_eq!(f64::from_bits(bits) / exact, 1.0, f64::powi(2.0, -20));
        }
    }
    assert_eq!(f64::from_bits(rcp(1e-310f64.to_bits())), f64::INFINITY);
    assert_eq!(f64::from_bits(rsqrt((-0f64).to_bits())), f64::NEG_INFINITY);
}
