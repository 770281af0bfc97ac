//! `bias_relu`, `bias_gelu` and `bias_silu`: a bias for each column, then an activation: what follows a matrix product.

use crate::day22::add_gelu::gelu;
use crate::{Case, DType, Exercise, Inputs, Param, Reference, Scalar, ScalarArg, Shape, Shapes, Step, Tolerance};

/// The number that the chain's kernel knows it by, as a scalar of the case.
const ACT: &[ScalarArg] = &[ScalarArg::Named("act")];

pub const RELU: Exercise = Exercise {
    name: "bias_relu",
    day: 24,
    definition: "max(x + bias of the column, 0)",
    inputs: &[Param::elements("x", DType::F32), Param::columns("bias", DType::F32)],
    outputs: &[Param::elements("out", DType::F32)],
    intermediates: &[Param::elements("biased", DType::F32)],
    scalars: &["act"],
    unfused: &[
        Step::by_row("add_to_rows", &["x", "bias"], &["biased"]),
        Step::elementwise("activation", &["biased"], &["out"]).with(ACT),
    ],
    shapes: Shapes::Rows { columns: &[4096], timed: &[4096] },
    make: |shape, inputs| make(shape, inputs, 0),
    reference: |case| reference(case, |t| t.max(0.0)),
    // As for add_gelu.
    tolerances: &[Tolerance { absolute: 2e-6, relative: 1e-5 }],
    flops: |shape| 2.0 * shape.elements() as f64,
    ..Exercise::TEMPLATE
};

pub const GELU: Exercise = Exercise {
    name: "bias_gelu",
    definition: "gelu(x + bias of the column), tanh form",
    make: |shape, inputs| make(shape, inputs, 1),
    reference: |case| reference(case, gelu),
    flops: |shape| 10.0 * shape.elements() as f64,
    ..RELU
};

pub const SILU: Exercise = Exercise {
    name: "bias_silu",
    definition: "silu(x + bias of the column)",
    make: |shape, inputs| make(shape, inputs, 2),
    reference: |case| reference(case, |t| t / (1.0 + (-t).exp())),
    flops: |shape| 5.0 * shape.elements() as f64,
    ..RELU
};

fn make(shape: Shape, inputs: &mut Inputs, act: i32) -> Case {
    let (x, bias) = (inputs.mixed_f32(shape.elements()), inputs.offsets(DType::F32, shape.columns));
    Case { scalars: vec![Scalar::I32(act)], ..Case::new(shape, vec![x, bias]) }
}

fn reference(case: &Case, act: fn(f64) -> f64) -> Vec<Reference> {
    let biases = case.f32s(1).iter().cycle();
    let values = case.f32s(0).iter().zip(biases).map(|(&x, &bias)| act(f64::from(x) + f64::from(bias))).collect();
    vec![Reference::Close { values, magnitudes: None }]
}
