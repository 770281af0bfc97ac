//! `new_exercise`: FILL IN what is instructive about it.

use crate::{Case, DType, Exercise, Param, Reference, ScalarArg, Step, Tolerance};

// For an operation on rows see `l2norm`: `sizes(rows, columns)`, `Step::by_row` and `shapes`.
// FILL IN: the launch function's buffers and scalars, in the order of `inputs`, `outputs` and `scalars` below.
crate::signature! { inputs(a: f32, b: f32) outputs(out: f32) scalars() sizes() }

pub const EXERCISE: Exercise = Exercise {
    name: "new_exercise",
    day: 0,
    // FILL IN: the operation in one line, for tables.
    definition: "2 a b",
    inputs: &[Param::elements("a", DType::F32), Param::elements("b", DType::F32)],
    outputs: &[Param::elements("out", DType::F32)],
    // FILL IN: what the unfused chain writes and reads back, and its kernels, which are in kernels/unfused/.
    intermediates: &[Param::elements("product", DType::F32)],
    unfused: &[
        Step::elementwise("mul", &["a", "b"], &["product"]),
        Step::elementwise("scale", &["product"], &["out"]).with(&[ScalarArg::Constant(2.0)]),
    ],
    // FILL IN: inputs in which a mistake shows.
    make: |shape, inputs| {
        let n = shape.elements();
        Case::new(shape, vec![inputs.mixed_f32(n), inputs.mixed_f32(n)])
    },
    reference,
    // FILL IN: the tolerance, from the operation's error model. Here: twice a number is exact, so the product is rounded once, by
    // 2^-24 of the result. 2^-22 is four times that; half precision rounds by 2^-11.
    tolerances: &[Tolerance { absolute: 0.0, relative: 2.4e-7 }],
    // FILL IN: the arithmetic. Here: two products.
    flops: |shape| 2.0 * shape.elements() as f64,
    hints: include_str!("new_exercise.md"),
    ..Exercise::TEMPLATE
};

/// FILL IN: the right outputs, in f64.
fn reference(case: &Case) -> Vec<Reference> {
    let pairs = case.f32s(0).iter().zip(case.f32s(1));
    let values = pairs.map(|(&a, &b)| 2.0 * f64::from(a) * f64::from(b)).collect();
    vec![Reference::Close { values, magnitudes: None }]
}
