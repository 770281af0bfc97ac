//! `add_mul_exp`: a sum, a constant factor and an exponential.

use crate::{Case, DType, Data, Exercise, Inputs, Param, Reference, ScalarArg, Shape, Step, Tolerance};

crate::signature! { inputs(x: f32, y: f32) outputs(out: f32) scalars() sizes() }

pub const EXERCISE: Exercise = Exercise {
    name: "add_mul_exp",
    day: 22,
    definition: "exp((x + y) * 2)",
    inputs: &[Param::elements("x", DType::F32), Param::elements("y", DType::F32)],
    outputs: &[Param::elements("out", DType::F32)],
    intermediates: &[Param::elements("sum", DType::F32), Param::elements("doubled", DType::F32)],
    unfused: &[
        Step::elementwise("add", &["x", "y"], &["sum"]),
        Step::elementwise("scale", &["sum"], &["doubled"]).with(&[ScalarArg::Constant(2.0)]),
        Step::elementwise("exponential", &["doubled"], &["out"]),
    ],
    make,
    reference,
    // The sum is off by 2^-24 of itself, which the exponential turns into a relative error of
    // |t| 2^-24, with t = 2 (x + y) at most 89 before the result overflows: 5.3e-6. On top comes
    // the exponential's own error: 2 ulp for expf, 2 + 1.173 |t| ulp for __expf (CUDA C++
    // Programming Guide, "Mathematical Functions"): 1.3e-5. Results below the smallest normal
    // number may be flushed to zero, hence the absolute part.
    tolerances: &[Tolerance { absolute: f32::MIN_POSITIVE as f64, relative: 2e-5 }],
    // A sum, a product, an exponential.
    flops: |shape| 3.0 * shape.elements() as f64,
    hints: include_str!("add_mul_exp.md"),
    ..Exercise::TEMPLATE
};

/// Mixed values, of which the large ones overflow or vanish, and one in eight spread over the whole range in which the
/// result is finite.
fn make(shape: Shape, inputs: &mut Inputs) -> Case {
    let (mut x, y) = (inputs.mixed(shape.elements()), inputs.mixed(shape.elements()));
    for value in &mut x {
        if inputs.below(8) == 0 {
            *value = inputs.uniform(-44.0, 44.0);
        }
    }
    Case::new(shape, vec![Data::F32(x), Data::F32(y)])
}

fn reference(case: &Case) -> Vec<Reference> {
    let pairs = case.f32s(0).iter().zip(case.f32s(1));
    let values = pairs.map(|(&x, &y)| ((f64::from(x) + f64::from(y)) * 2.0).exp()).collect();
    vec![Reference::Close { values, magnitudes: None }]
}
