//! `average`: a first kernel, one element per thread.

use crate::{Case, DType, Exercise, Param, Reference, ScalarArg, Step, Tolerance};

crate::signature! { inputs(x: f32, y: f32) outputs(out: f32) scalars() sizes() }

pub const EXERCISE: Exercise = Exercise {
    name: "average",
    day: 21,
    definition: "(x + y) / 2",
    inputs: &[Param::elements("x", DType::F32), Param::elements("y", DType::F32)],
    outputs: &[Param::elements("out", DType::F32)],
    intermediates: &[Param::elements("sum", DType::F32)],
    unfused: &[
        Step::elementwise("add", &["x", "y"], &["sum"]),
        Step::elementwise("scale", &["sum"], &["out"]).with(&[ScalarArg::Constant(0.5)]),
    ],
    make: |shape, inputs| {
        let n = shape.elements();
        Case::new(shape, vec![inputs.mixed_f32(n), inputs.mixed_f32(n)])
    },
    reference,
    // Half of a number is exact, so a sum and its half are rounded once: 2^-24 of the result. `x + (y - x) / 2` is as
    // good, and rounds twice, which is 2^-23 of the larger term. 2^-22 is twice that; half precision rounds by 2^-11.
    tolerances: &[Tolerance { absolute: 0.0, relative: 2.4e-7 }],
    // A sum and a product.
    flops: |shape| 2.0 * shape.elements() as f64,
    hints: include_str!("average.md"),
    ..Exercise::TEMPLATE
};

fn reference(case: &Case) -> Vec<Reference> {
    let pairs = || case.f32s(0).iter().zip(case.f32s(1)).map(|(&x, &y)| (f64::from(x), f64::from(y)));
    vec![Reference::Close {
        values: pairs().map(|(x, y)| (x + y) / 2.0).collect(),
        magnitudes: Some(pairs().map(|(x, y)| x.abs().max(y.abs())).collect()),
    }]
}
