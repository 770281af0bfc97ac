//! `add_residual_act`: a residual added, then one of three activations: one template, three kernels.

use crate::day22::add_gelu::gelu;
use crate::{Case, DType, Exercise, Inputs, Param, Reference, Scalar, ScalarArg, Shape, Step, Tolerance};

crate::signature! { inputs(x: f32, residual: f32) outputs(out: f32) scalars(act: I32(i32)) sizes() }

pub const EXERCISE: Exercise = Exercise {
    name: "add_residual_act",
    day: 24,
    definition: "act(x + residual), act: relu, gelu in its tanh form, or silu",
    inputs: &[Param::elements("x", DType::F32), Param::elements("residual", DType::F32)],
    outputs: &[Param::elements("out", DType::F32)],
    intermediates: &[Param::elements("sum", DType::F32)],
    scalars: &["act"],
    unfused: &[
        Step::elementwise("add", &["x", "residual"], &["sum"]),
        Step::elementwise("activation", &["sum"], &["out"]).with(&[ScalarArg::Named("act")]),
    ],
    make,
    reference,
    choices: ("act", &["relu", "gelu", "silu"]),
    // As for add_gelu: where a factor such as (1 + tanh) is the difference of near numbers it keeps only an absolute
    // error of about 2^-23, which the argument multiplies; elsewhere an exponential's few ulps. The sum itself
    // is rounded once, which relu passes on.
    tolerances: &[Tolerance { absolute: 2e-6, relative: 1e-5 }],
    // The sum and, of the three activations the longest, GELU's nine.
    flops: |shape| 10.0 * shape.elements() as f64,
    hints: include_str!("add_residual_act.md"),
    ..Exercise::TEMPLATE
};

/// How many activations there are; they are numbered from 0.
const ACTIVATIONS: usize = 3;

/// Which activation it is goes by the size, so that each is asked for at small sizes and large ones, and half of the calls draw
/// another, so that one that was kept from the call before shows.
fn make(shape: Shape, inputs: &mut Inputs) -> Case {
    let n = shape.elements();
    let other = inputs.below(2) * inputs.below(ACTIVATIONS);
    let act = (n + other) % ACTIVATIONS;
    Case {
        scalars: vec![Scalar::I32(act as i32)],
        ..Case::new(shape, vec![inputs.mixed_f32(n), inputs.mixed_f32(n)])
    }
}

fn reference(case: &Case) -> Vec<Reference> {
    let act: fn(f64) -> f64 = match case.scalar(0) as i32 {
        0 => |t| t.max(0.0),
        1 => gelu,
        _ => |t| t / (1.0 + (-t).exp()),
    };
    let values = case.f32s(0).iter().zip(case.f32s(1)).map(|(&x, &r)| act(f64::from(x) + f64::from(r))).collect();
    vec![Reference::Close { values, magnitudes: None }]
}
