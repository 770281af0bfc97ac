//! The specifications of Day 22: bytes as the course states them, tolerances that admit f32 and
//! nothing coarser, and inputs on which every shortcut of a quantizer shows.
#![allow(clippy::unwrap_used)]

use fusion_course::{Case, Data, Exercise, Inputs, Mismatch, Shape, find};
use half::f16;

const SEEDS: std::ops::Range<u64> = 0..8;
const SQRT_2_OVER_PI: f32 = 0.797_884_6;
const F32_EXERCISES: [&str; 4] = ["add_mul_relu", "mul_add", "add_mul_exp", "add_gelu"];

/// The shapes of a run. The large ones would take most of the time: they are left to `large_shapes_pass`.
fn shapes(exercise: &Exercise, seed: u64, from: usize) -> Vec<Shape> {
    exercise.shapes.all(seed).into_iter().filter(|shape| (from..10_000).contains(&shape.elements())).collect()
}

fn case(exercise: &Exercise, shape: Shape, seed: u64) -> Case {
    (exercise.make)(shape, &mut Inputs::new(seed))
}

/// The verdict on an output.
fn check(exercise: &Exercise, case: &Case, output: Data) -> Result<(), Mismatch> {
    (exercise.reference)(case)[0].check(&output, exercise.tolerances[0])
}

/// An f32 output computed from the inputs at each element.
fn map(case: &Case, element: impl Fn(&[f32]) -> f32) -> Data {
    let at = |i: usize| (0..case.inputs.len()).map(|input| case.f32s(input)[i]).collect::<Vec<_>>();
    Data::F32((0..case.shape.elements()).map(|i| element(&at(i))).collect())
}

/// What a plain f32 kernel computes.
fn in_f32(name: &str, x: &[f32]) -> f32 {
    match name {
        "add_mul_relu" => ((x[0] + x[1]) * x[0]).max(0.0),
        "mul_add" => x[0] * x[1] + x[2],
        "add_mul_exp" => ((x[0] + x[1]) * 2.0).exp(),
        "add_gelu" => {
            let t = x[0] + x[1];
            0.5 * t * (1.0 + (SQRT_2_OVER_PI * (t + 0.044715 * t * t * t)).tanh())
        }
        _ => unreachable!(),
    }
}

/// Another order of operations that is as good.
fn in_f32_otherwise(name: &str, x: &[f32]) -> f32 {
    match name {
        "add_mul_relu" => x[0].mul_add(x[0], x[0] * x[1]).max(0.0),
        "mul_add" => x[0].mul_add(x[1], x[2]),
        "add_mul_exp" => ((x[0] + x[1]) * (2.0 * std::f32::consts::LOG2_E)).exp2(),
        "add_gelu" => {
            let t = x[0] + x[1];
            t / (1.0 + (-2.0 * SQRT_2_OVER_PI * (0.044715 * t * t).mul_add(t, t)).exp())
        }
        _ => unreachable!(),
    }
}

fn in_f16(name: &str, x: &[f32]) -> f32 {
    let h = |x: f32| f16::from_f32(x);
    let x: Vec<f16> = x.iter().map(|x| h(*x)).collect();
    let result = match name {
        "add_mul_relu" => ((x[0] + x[1]) * x[0]).max(f16::ZERO),
        "mul_add" => x[0] * x[1] + x[2],
        "add_mul_exp" => h(((x[0] + x[1]) * h(2.0)).to_f32().exp()),
        "add_gelu" => {
            let t = x[0] + x[1];
            h(0.5) * t * (h(1.0) + h((h(SQRT_2_OVER_PI) * (t + h(0.044715) * t * t * t)).to_f32().tanh()))
        }
        _ => unreachable!(),
    };
    result.to_f32()
}

#[test]
fn bytes_are_those_of_the_course() {
    for (name, unfused, fused) in [
        ("add_mul_relu", 32, 12),
        ("mul_add", 24, 16),
        ("add_mul_exp", 28, 12),
        ("add_gelu", 20, 12),
        ("quantize_int8", 37, 5),
    ] {
        let (exercise, shape) = (find(name).unwrap(), Shape::flat(1000));
        assert_eq!(exercise.unfused_bytes(shape), unfused * 1000, "{name}");
        assert_eq!(exercise.minimum_bytes(shape), fused * 1000, "{name}");
    }
}

#[test]
fn f32_passes_at_every_shape() {
    for exercise in F32_EXERCISES.map(|name| find(name).unwrap()) {
        for seed in SEEDS {
            for shape in shapes(exercise, seed, 0) {
                let case = case(exercise, shape, seed);
                let plain = check(exercise, &case, map(&case, |x| in_f32(exercise.name, x)));
                assert_eq!(plain, Ok(()), "{} at {shape}, seed {seed}", exercise.name);
                let otherwise = check(exercise, &case, map(&case, |x| in_f32_otherwise(exercise.name, x)));
                assert_eq!(otherwise, Ok(()), "{} at {shape}, seed {seed}", exercise.name);
            }
        }
    }
}

#[test]
fn large_shapes_pass() {
    let shape = Shape::flat(1_000_003);
    for exercise in F32_EXERCISES.map(|name| find(name).unwrap()) {
        let case = case(exercise, shape, 1);
        assert_eq!(check(exercise, &case, map(&case, |x| in_f32(exercise.name, x))), Ok(()), "{}", exercise.name);
    }
}

#[test]
fn zeros_and_half_precision_fail_from_31_elements_on() {
    for exercise in F32_EXERCISES.map(|name| find(name).unwrap()) {
        for seed in SEEDS {
            for shape in shapes(exercise, seed, 31) {
                let case = case(exercise, shape, seed);
                let zeros = check(exercise, &case, map(&case, |_| 0.0));
                assert!(zeros.is_err(), "{} at {shape}, seed {seed}", exercise.name);
                let half = check(exercise, &case, map(&case, |x| in_f16(exercise.name, x)));
                assert!(half.unwrap_err().count * 4 > shape.elements(), "{} at {shape}, seed {seed}", exercise.name);
            }
        }
    }
}

/// The exponential's inputs reach infinity, zero and everything between.
#[test]
fn the_exponential_overflows_and_vanishes_somewhere() {
    let exercise = find("add_mul_exp").unwrap();
    for seed in SEEDS {
        let case = case(exercise, Shape::flat(1023), seed);
        let Data::F32(values) = map(&case, |x| in_f32(exercise.name, x)) else { unreachable!() };
        assert!(values.iter().any(|x| x.is_infinite()), "seed {seed}");
        assert!(values.contains(&0.0), "seed {seed}");
        assert!(values.iter().any(|x| *x > 1e20 && x.is_finite()), "seed {seed}");
    }
}

/// The f32 quotient plus zero point, and the same in other ways that a kernel might take.
type Quantizer = fn(f32, f32, f32) -> f32;

fn quantized(case: &Case, quantizer: Quantizer) -> Data {
    let (scale, zero_point) = (case.scalar(0) as f32, case.scalar(1) as f32);
    Data::I8(case.f32s(0).iter().map(|&x| quantizer(x, scale, zero_point).clamp(-128.0, 127.0) as i8).collect())
}

#[test]
fn right_quantizers_pass_at_every_shape() {
    let exercise = find("quantize_int8").unwrap();
    let right: [Quantizer; 2] = [
        |x, scale, zero_point| (x / scale + zero_point).round_ties_even(),
        |x, scale, zero_point| (f64::from(x) / f64::from(scale) + f64::from(zero_point)).round_ties_even() as f32,
    ];
    for seed in SEEDS {
        for shape in shapes(exercise, seed, 0) {
            let case = case(exercise, shape, seed);
            for quantizer in right {
                assert_eq!(check(exercise, &case, quantized(&case, quantizer)), Ok(()), "{shape}, seed {seed}");
            }
        }
    }
}

#[test]
fn every_shortcut_of_a_quantizer_fails_at_some_shape_of_every_run() {
    let exercise = find("quantize_int8").unwrap();
    let shortcuts: [(&str, Quantizer); 9] = [
        ("zero", |_, _, _| 0.0),
        ("reciprocal", |x, scale, zero_point| (x * (1.0 / scale) + zero_point).round_ties_even()),
        ("reciprocal, fused", |x, scale, zero_point| x.mul_add(1.0 / scale, zero_point).round_ties_even()),
        ("half away from zero", |x, scale, zero_point| (x / scale + zero_point).round()),
        ("half up", |x, scale, zero_point| (x / scale + zero_point + 0.5).floor()),
        ("truncated", |x, scale, zero_point| (x / scale + zero_point).trunc()),
        ("zero point last", |x, scale, zero_point| (x / scale).round_ties_even() + zero_point),
        ("no zero point", |x, scale, _| (x / scale).round_ties_even()),
        ("half precision", |x, scale, zero_point| {
            let quotient = f16::from_f32(x) / f16::from_f32(scale) + f16::from_f32(zero_point);
            quotient.to_f32().round_ties_even()
        }),
    ];
    for seed in 0..32 {
        let cases: Vec<Case> = shapes(exercise, seed, 0).into_iter().map(|shape| case(exercise, shape, seed)).collect();
        for (name, quantizer) in shortcuts {
            let refused = cases.iter().any(|case| check(exercise, case, quantized(case, quantizer)).is_err());
            assert!(refused, "{name} passes with seed {seed}");
        }
    }
}

/// Clamps that miss one end, or wrap instead.
#[test]
fn both_ends_saturate_in_every_run() {
    let exercise = find("quantize_int8").unwrap();
    for seed in SEEDS {
        for shape in shapes(exercise, seed, 255) {
            let case = case(exercise, shape, seed);
            let (scale, zero_point) = (case.scalar(0) as f32, case.scalar(1) as f32);
            let quotient = |x: f32| (x / scale + zero_point).round_ties_even();
            for clamp in [
                (|v| v.max(-128.0) as i32 as i8) as fn(f32) -> i8,
                |v| v.min(127.0) as i32 as i8,
                |v| v.clamp(-127.0, 127.0) as i8,
                |v| v.clamp(0.0, 255.0) as u8 as i8,
            ] {
                let output = Data::I8(case.f32s(0).iter().map(|&x| clamp(quotient(x))).collect());
                assert!(check(exercise, &case, output).is_err(), "{shape}, seed {seed}");
            }
        }
    }
}
