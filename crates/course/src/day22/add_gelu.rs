//! `add_gelu`: two inputs added, then the tanh form of GELU.

use crate::{Case, DType, Exercise, Param, Reference, Step, Tolerance};

crate::signature! { inputs(a: f32, b: f32) outputs(out: f32) scalars() sizes() }

pub const EXERCISE: Exercise = Exercise {
    name: "add_gelu",
    day: 22,
    definition: "gelu(a + b), tanh form",
    inputs: &[Param::elements("a", DType::F32), Param::elements("b", DType::F32)],
    outputs: &[Param::elements("out", DType::F32)],
    intermediates: &[Param::elements("sum", DType::F32)],
    unfused: &[Step::elementwise("add", &["a", "b"], &["sum"]), Step::elementwise("gelu", &["sum"], &["out"])],
    make: |shape, inputs| {
        let n = shape.elements();
        Case::new(shape, vec![inputs.mixed_f32(n), inputs.mixed_f32(n)])
    },
    reference,
    // Where tanh is near -1 the factor (1 + tanh) keeps only the absolute error of tanh, about
    // 2^-23, which t multiplies: at t = -5 that is 3e-7 of a result of -2e-7. Elsewhere a handful
    // of roundings of 2^-24 each, and tanh's own few ulps.
    tolerances: &[Tolerance { absolute: 2e-6, relative: 1e-5 }],
    // The sum; then three products for the cube, a sum, a product, tanh, a sum and two products.
    flops: |shape| 10.0 * shape.elements() as f64,
    hints: include_str!("add_gelu.md"),
    ..Exercise::TEMPLATE
};

fn reference(case: &Case) -> Vec<Reference> {
    let values = case.f32s(0).iter().zip(case.f32s(1)).map(|(&a, &b)| gelu(f64::from(a) + f64::from(b))).collect();
    vec![Reference::Close { values, magnitudes: None }]
}

/// 0.5 t (1 + tanh(sqrt(2/pi) (t + 0.044715 t^3))), arXiv:1606.08415.
pub fn gelu(t: f64) -> f64 {
    let inner = (2.0 / std::f64::consts::PI).sqrt() * (t + 0.044715 * t * t * t);
    0.5 * t * (1.0 + inner.tanh())
}

/// By how much the slope of GELU changes for each unit of its argument, at the most: at 0, where it is the density of the
/// normal distribution twice.
pub(crate) const BEND: f64 = 0.8;

/// The slope of [`gelu`], from its definition: with t s(2u) for it, where s is the sigmoid and u the cubic,
/// s + t s (1 - s) 2u'.
pub(crate) fn slope(t: f64) -> f64 {
    let root = (2.0 / std::f64::consts::PI).sqrt();
    let sigmoid = 1.0 / (1.0 + (-2.0 * root * (t + 0.044715 * t * t * t)).exp());
    sigmoid + t * sigmoid * (1.0 - sigmoid) * 2.0 * root * (1.0 + 3.0 * 0.044715 * t * t)
}
