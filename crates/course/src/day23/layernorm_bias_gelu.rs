//! `layernorm_bias_gelu`: a normalisation with mean and variance of the row, a bias and an activation.

use crate::day22::add_gelu::gelu;
use crate::rounding::{UNIT, layernorm};
use crate::{Case, DType, Data, Exercise, Inputs, Param, Reference, ScalarArg, Shape, Shapes, Step, Suspect, Tolerance};

crate::signature! {
    inputs(x: f32, gamma: f32, beta: f32, bias: f32) outputs(out: f32) scalars() sizes(rows, columns)
}

pub const EXERCISE: Exercise = Exercise {
    name: "layernorm_bias_gelu",
    day: 23,
    definition: "gelu(layernorm(x; gamma, beta, 1e-5) + bias), population variance, tanh form",
    inputs: &[
        Param::elements("x", DType::F32),
        Param::columns("gamma", DType::F32),
        Param::columns("beta", DType::F32),
        Param::columns("bias", DType::F32),
    ],
    outputs: &[Param::elements("out", DType::F32)],
    intermediates: &[Param::elements("norm", DType::F32), Param::elements("biased", DType::F32)],
    unfused: &[
        Step::by_row("layernorm", &["x", "gamma", "beta"], &["norm"]).with(&[ScalarArg::Constant(EPSILON)]),
        Step::by_row("add_to_rows", &["norm", "bias"], &["biased"]),
        Step::elementwise("gelu", &["biased"], &["out"]),
    ],
    shapes: Shapes::Rows {
        columns: &[1, 31, 32, 33, 35, 127, 128, 1000, 1024, 4096, 5003],
        timed: &[1024, 4096, 16384],
    },
    make,
    reference,
    suspects: &[Suspect::CANCELLATION, Suspect::NEARLY_ALIKE],
    // GELU's own errors, as in `add_gelu`; what goes into it is off by what the reference's magnitudes say.
    tolerances: &[Tolerance { absolute: 2e-6, relative: RELATIVE }],
    // Less than elsewhere: gamma, beta and bias are read for every row, which costs no byte from DRAM, but time.
    bar: 0.75,
    // A sum for the mean, a difference, a square and a sum for the variance, two products and two sums; then GELU's nine.
    flops: |shape| 17.0 * shape.elements() as f64,
    hints: include_str!("layernorm_bias_gelu.md"),
    ..Exercise::TEMPLATE
};

const EPSILON: f32 = 1e-5;
const RELATIVE: f64 = 1e-5;

/// Some rows lie far from zero: there, the mean of the squares minus the square of the mean says nothing.
fn make(shape: Shape, inputs: &mut Inputs) -> Case {
    let mut x = inputs.rows(shape);
    for row in x.chunks_exact_mut(shape.columns.max(1)) {
        let offset = if inputs.below(4) == 0 { inputs.uniform(-300.0, 300.0) } else { 0.0 };
        row.iter_mut().for_each(|x| *x += offset);
    }
    let gamma = inputs.gains(DType::F32, shape.columns);
    let [beta, bias] = [(); 2].map(|()| inputs.offsets(DType::F32, shape.columns));
    Case::new(shape, vec![Data::F32(x), gamma, beta, bias])
}

/// In f64, with the errors of f32 as magnitudes, to first order: those of layernorm; the sums with beta and bias round by 2^-24 of what
/// they are, or by up to four times that; GELU multiplies all of it by its slope, which is 1.13 at most.
fn reference(case: &Case) -> Vec<Reference> {
    let mut values = Vec::with_capacity(case.shape.elements());
    let mut magnitudes = Vec::with_capacity(case.shape.elements());
    let [gamma, beta, bias] = [1, 2, 3].map(|input| case.f64s(input));
    for row in case.f32s(0).chunks_exact(case.shape.columns.max(1)) {
        for (normed, (beta, bias)) in layernorm(row, &gamma, EPSILON, 1).into_iter().zip(beta.iter().zip(&bias)) {
            let value = gelu(normed.value + beta + bias);
            let error = normed.error + 4.0 * UNIT * (beta.abs() + bias.abs());
            values.push(value);
            magnitudes.push(value.abs() + 1.13 * error / RELATIVE);
        }
    }
    vec![Reference::Close { values, magnitudes: Some(magnitudes) }]
}
