//! `mul_add`: a product and a sum, which one instruction can do.

use crate::{Case, DType, Exercise, Param, Reference, Step, Tolerance};

crate::signature! { inputs(q: f32, k: f32, v: f32) outputs(out: f32) scalars() sizes() }

pub const EXERCISE: Exercise = Exercise {
    name: "mul_add",
    day: 22,
    definition: "q * k + v",
    inputs: &[Param::elements("q", DType::F32), Param::elements("k", DType::F32), Param::elements("v", DType::F32)],
    outputs: &[Param::elements("out", DType::F32)],
    intermediates: &[Param::elements("product", DType::F32)],
    unfused: &[
        Step::elementwise("mul", &["q", "k"], &["product"]),
        Step::elementwise("add", &["product", "v"], &["out"]),
    ],
    make: |shape, inputs| {
        let n = shape.elements();
        Case::new(shape, vec![inputs.mixed_f32(n), inputs.mixed_f32(n), inputs.mixed_f32(n)])
    },
    reference,
    // One rounding where the compiler contracts to a fused multiply-add, two where it does not:
    // 2^-24 of the product and 2^-24 of the result. The product and `v` may cancel, so the errors
    // are relative to the larger term. 2^-22 is twice the worst; half precision rounds by 2^-11.
    tolerances: &[Tolerance { absolute: 0.0, relative: 2.4e-7 }],
    // A product and a sum.
    flops: |shape| 2.0 * shape.elements() as f64,
    hints: include_str!("mul_add.md"),
    ..Exercise::TEMPLATE
};

fn reference(case: &Case) -> Vec<Reference> {
    let terms = || {
        let [q, k, v] = [0, 1, 2].map(|input| case.f32s(input));
        q.iter().zip(k).zip(v).map(|((&q, &k), &v)| (f64::from(q) * f64::from(k), f64::from(v)))
    };
    vec![Reference::Close {
        values: terms().map(|(product, v)| product + v).collect(),
        magnitudes: Some(terms().map(|(product, v)| product.abs().max(v.abs())).collect()),
    }]
}
