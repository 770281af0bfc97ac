//! `quantize_int8`: five elementwise steps that end in one byte, and every way to round wrongly.

use crate::{Case, DType, Data, Exercise, Inputs, Param, Reference, Scalar, ScalarArg, Shape, Step, Tolerance};

crate::signature! { inputs(x: f32) outputs(out: i8) scalars(scale: F32(f32), zero_point: F32(f32)) sizes() }

pub const EXERCISE: Exercise = Exercise {
    name: "quantize_int8",
    day: 22,
    definition: "clamp(round_half_even(x / scale + zero_point), -128, 127) as i8",
    inputs: &[Param::elements("x", DType::F32)],
    outputs: &[Param::elements("out", DType::I8)],
    intermediates: &[
        Param::elements("quotient", DType::F32),
        Param::elements("shifted", DType::F32),
        Param::elements("rounded", DType::F32),
        Param::elements("clamped", DType::F32),
    ],
    scalars: &["scale", "zero_point"],
    unfused: &[
        Step::elementwise("div_scalar", &["x"], &["quotient"]).with(&[ScalarArg::Named("scale")]),
        Step::elementwise("add_scalar", &["quotient"], &["shifted"]).with(&[ScalarArg::Named("zero_point")]),
        Step::elementwise("round_half_even", &["shifted"], &["rounded"]),
        Step::elementwise("clamp", &["rounded"], &["clamped"])
            .with(&[ScalarArg::Constant(-128.0), ScalarArg::Constant(127.0)]),
        Step::elementwise("cast_i8", &["clamped"], &["out"]),
    ],
    make,
    reference,
    tolerances: &[Tolerance::EXACT],
    // A division, a sum, a rounding and two comparisons.
    flops: |shape| 5.0 * shape.elements() as f64,
    hints: include_str!("quantize_int8.md"),
    ..Exercise::TEMPLATE
};

/// A scale and zero point that go by the size, so that every run meets scales with exact ties
/// (powers of two), scales whose reciprocal is inexact, odd zero points (they turn a tie's even neighbour into its
/// odd one) and none.
fn make(shape: Shape, inputs: &mut Inputs) -> Case {
    let n = shape.elements();
    let scale = match n % 5 {
        0 => 1.0,
        1 => 0.1,
        2 => 0.007_812_5,
        3 => 0.023_622_05,
        _ => inputs.uniform(0.01, 0.2),
    };
    let zero_point = [0.0, 3.0, -5.0][n % 3];
    let x = (0..n).map(|_| value(inputs, scale, zero_point)).collect();
    Case {
        scalars: vec![Scalar::F32(scale), Scalar::F32(zero_point)],
        ..Case::new(shape, vec![Data::F32(x)])
    }
}

/// Half of the values lie on or next to the ties, where every shortcut shows.
fn value(inputs: &mut Inputs, scale: f32, zero_point: f32) -> f32 {
    match inputs.below(32) {
        0 => 0.0,
        1 => -0.0,
        2 => inputs.uniform(-1e4, 1e4),
        3 => inputs.uniform(-1e-6, 1e-6),
        // Beyond either end, by a little and by more than 8 bits can count.
        4..8 => scale * inputs.uniform(-600.0, 600.0),
        8..16 => scale * inputs.uniform(-140.0, 140.0),
        _ => {
            let tie = inputs.below(260) as f64 - 130.0 + 0.5;
            let x = ((tie - f64::from(zero_point)) * f64::from(scale)) as f32;
            match inputs.below(5) {
                0 => x.next_down().next_down(),
                1 => x.next_down(),
                2 => x.next_up(),
                3 => x.next_up().next_up(),
                _ => x,
            }
        }
    }
}

/// The quotient rounded once, in f64, and the IEEE f32 chain, which may round onto a tie: both are
/// right, and they differ only where the exact quotient lies within an f32 rounding of a tie.
fn reference(case: &Case) -> Vec<Reference> {
    let (scale, zero_point) = (case.scalar(0), case.scalar(1));
    let exact = |x: f32| (f64::from(x) / scale + zero_point).round_ties_even().clamp(-128.0, 127.0);
    let chain = |x: f32| (x / scale as f32 + zero_point as f32).round_ties_even().clamp(-128.0, 127.0);
    vec![Reference::OneOf(case.f32s(0).iter().map(|&x| [exact(x), f64::from(chain(x))]).collect())]
}
