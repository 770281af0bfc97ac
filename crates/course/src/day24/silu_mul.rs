//! `silu_mul`: the gate of a SwiGLU layer, all bf16, computed in f32 and rounded once.

use half::bf16;

use crate::{Case, DType, Data, Exercise, Inputs, Param, Reference, Shape, Step, Tolerance};

crate::signature! { inputs(gate: bf16, up: bf16) outputs(out: bf16) scalars() sizes() }

pub const EXERCISE: Exercise = Exercise {
    name: "silu_mul",
    day: 24,
    definition: "silu(gate) * up, rounded once",
    inputs: &[Param::elements("gate", DType::Bf16), Param::elements("up", DType::Bf16)],
    outputs: &[Param::elements("out", DType::Bf16)],
    intermediates: &[Param::elements("activated", DType::Bf16)],
    unfused: &[
        Step::elementwise("silu_bf16", &["gate"], &["activated"]),
        Step::elementwise("mul_bf16", &["activated", "up"], &["out"]),
    ],
    make,
    reference,
    tolerances: &[Tolerance::EXACT],
    // An exponential, a sum, a quotient, a product.
    flops: |shape| 4.0 * shape.elements() as f64,
    hints: include_str!("silu_mul.md"),
    ..Exercise::TEMPLATE
};

fn make(shape: Shape, inputs: &mut Inputs) -> Case {
    let n = shape.elements();
    let gate = (0..n).map(|i| gate(inputs, i)).collect();
    let up = inputs.mixed(n);
    Case::new(shape, vec![Data::rounded(DType::Bf16, gate), Data::rounded(DType::Bf16, up)])
}

/// Mostly ordinary gates. The far ones find exponentials that overflow; none lies where e^-t is too large for f32
/// and e^t is not yet 0 (80 to 110 below zero), because there right kernels differ.
fn gate(inputs: &mut Inputs, index: usize) -> f32 {
    match inputs.below(32) {
        0 => 0.0,
        1 => inputs.uniform(-1e-6, 1e-6),
        2 => inputs.uniform(-80.0, 80.0),
        3 => inputs.uniform(100.0, 1e4),
        4 => inputs.uniform(-1e4, -110.0),
        _ => inputs.uniform(-4.0, 4.0) + 0.25 * ((index % 1021) as f32 / 1021.0),
    }
}

/// In f32 the exponential is off by (2 + 1.173 |t|) units in the last place at most, as the CUDA Programming Guide
/// says of `__expf`; where t is positive it is added to 1 and counts for less. Sum, quotient and product add four
/// units. A unit is 2^-23 of the value. bf16 keeps 2^-8 of it, so away from the middle between two of
/// its values there is one right result.
fn reference(case: &Case) -> Vec<Reference> {
    let unit = f64::from(f32::EPSILON);
    let numbers = case.f64s(0).into_iter().zip(case.f64s(1)).map(|(t, up)| {
        let value = t / (1.0 + (-t).exp()) * up;
        let exponential = if t < 0.0 { 2.0 + 1.173 * -t } else { 2.0 };
        (value, value.abs() * (exponential + 4.0) * unit)
    });
    vec![Reference::rounded(DType::Bf16, numbers)]
}
