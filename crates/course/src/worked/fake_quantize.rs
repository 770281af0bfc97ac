//! `fake_quantize`: to the nearest of 255 levels and back, as a network is trained that will be quantized later.

use crate::{Case, DType, Data, Exercise, Inputs, Param, Reference, Scalar, ScalarArg, Shape, Step, Tolerance};

const SCALE: &[ScalarArg] = &[ScalarArg::Named("scale")];

pub const OPERATION: Exercise = Exercise {
    name: "fake_quantize",
    day: 22,
    definition: "clamp(round_half_even(x / scale), -127, 127) * scale",
    inputs: &[Param::elements("x", DType::F32)],
    outputs: &[Param::elements("out", DType::F32)],
    intermediates: &[
        Param::elements("quotient", DType::F32),
        Param::elements("rounded", DType::F32),
        Param::elements("clamped", DType::F32),
    ],
    scalars: &["scale"],
    unfused: &[
        Step::elementwise("div_scalar", &["x"], &["quotient"]).with(SCALE),
        Step::elementwise("round_half_even", &["quotient"], &["rounded"]),
        Step::elementwise("clamp", &["rounded"], &["clamped"])
            .with(&[ScalarArg::Constant(-127.0), ScalarArg::Constant(127.0)]),
        Step::elementwise("scale", &["clamped"], &["out"]).with(SCALE),
    ],
    make,
    reference,
    tolerances: &[Tolerance::EXACT],
    // A division, a rounding, two comparisons, a product.
    flops: |shape| 5.0 * shape.elements() as f64,
    ..Exercise::TEMPLATE
};

/// Values inside the range, on its ties, and beyond it.
fn make(shape: Shape, inputs: &mut Inputs) -> Case {
    let scale = [0.023_622_05, 0.007_812_5, 0.1][shape.elements() % 3];
    let x = (0..shape.elements()).map(|_| match inputs.below(4) {
        0 => scale * inputs.uniform(-300.0, 300.0),
        1 => scale * (inputs.below(254) as f32 - 127.0 + 0.5),
        _ => scale * inputs.uniform(-130.0, 130.0),
    });
    let x = Data::F32(x.collect());
    Case { scalars: vec![Scalar::F32(scale)], ..Case::new(shape, vec![x]) }
}

/// The quotient rounded once, in f64, and the f32 chain, which may round onto a tie: both are right. The product with
/// the scale is rounded once more, to f32.
fn reference(case: &Case) -> Vec<Reference> {
    let scale = case.scalar(0) as f32;
    let back = |step: f32| f64::from(step.round_ties_even().clamp(-127.0, 127.0) * scale);
    let of = |&x: &f32| {
        // Rounded to an integer in f64, where no quotient of two floats falls onto a tie that it is not on. The cast is
        // exact for integers of this size.
        let exact = (f64::from(x) / f64::from(scale)).round_ties_even() as f32;
        [back(exact), back(x / scale)]
    };
    vec![Reference::OneOf(case.f32s(0).iter().map(of).collect())]
}
