//! `relu_bf16`: a rectifier whose result is stored in half of the bytes.

use crate::{Case, DType, Exercise, Param, Reference, Step, Tolerance};

pub const OPERATION: Exercise = Exercise {
    name: "relu_bf16",
    day: 25,
    definition: "max(x, 0), rounded to bf16",
    inputs: &[Param::elements("x", DType::F32)],
    outputs: &[Param::elements("out", DType::Bf16)],
    intermediates: &[Param::elements("positive", DType::F32)],
    unfused: &[Step::elementwise("relu", &["x"], &["positive"]), Step::elementwise("to_bf16", &["positive"], &["out"])],
    make: |shape, inputs| Case::new(shape, vec![inputs.mixed_f32(shape.elements())]),
    reference: |case| {
        let exact = case.f32s(0).iter().map(|&x| (f64::from(x).max(0.0), 0.0));
        vec![Reference::rounded(DType::Bf16, exact)]
    },
    tolerances: &[Tolerance::EXACT],
    // A comparison and a rounding.
    flops: |shape| 2.0 * shape.elements() as f64,
    ..Exercise::TEMPLATE
};
