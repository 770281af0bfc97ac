//! `add_mul_relu`: three steps over two inputs, the first of which is needed twice.

use crate::{Case, DType, Exercise, Param, Reference, Step, Tolerance};

crate::signature! { inputs(a: f32, b: f32) outputs(out: f32) scalars() sizes() }

pub const EXERCISE: Exercise = Exercise {
    name: "add_mul_relu",
    day: 22,
    definition: "max(0, (a + b) * a)",
    inputs: &[Param::elements("a", DType::F32), Param::elements("b", DType::F32)],
    outputs: &[Param::elements("out", DType::F32)],
    intermediates: &[Param::elements("sum", DType::F32), Param::elements("product", DType::F32)],
    unfused: &[
        Step::elementwise("add", &["a", "b"], &["sum"]),
        Step::elementwise("mul", &["sum", "a"], &["product"]),
        Step::elementwise("relu", &["product"], &["out"]),
    ],
    make: |shape, inputs| {
        let n = shape.elements();
        Case::new(shape, vec![inputs.mixed_f32(n), inputs.mixed_f32(n)])
    },
    reference,
    // Each operation rounds once, by at most 2^-24 of its result. As written the errors of the sum
    // and of the product add up to 2^-23 of the result; expanded to a*a + a*b, which is as good an
    // answer, there are three roundings, each of at most the larger term (the magnitude). 2^-22 of
    // it covers both; half precision rounds by 2^-11.
    tolerances: &[Tolerance { absolute: 0.0, relative: 2.4e-7 }],
    // A sum, a product, a maximum.
    flops: |shape| 3.0 * shape.elements() as f64,
    hints: include_str!("add_mul_relu.md"),
    ..Exercise::TEMPLATE
};

fn reference(case: &Case) -> Vec<Reference> {
    let pairs = || case.f32s(0).iter().zip(case.f32s(1)).map(|(&a, &b)| (f64::from(a), f64::from(b)));
    vec![Reference::Close {
        values: pairs().map(|(a, b)| ((a + b) * a).max(0.0)).collect(),
        magnitudes: Some(pairs().map(|(a, b)| a.abs() * a.abs().max(b.abs())).collect()),
    }]
}
