//! `add_sigmoid`: two inputs added, then the sigmoid, which squeezes any number into 0 to 1.

use crate::{Case, DType, Exercise, Param, Reference, Step, Tolerance};

pub const OPERATION: Exercise = Exercise {
    name: "add_sigmoid",
    day: 22,
    definition: "1 / (1 + exp(-(a + b)))",
    inputs: &[Param::elements("a", DType::F32), Param::elements("b", DType::F32)],
    outputs: &[Param::elements("out", DType::F32)],
    intermediates: &[Param::elements("sum", DType::F32)],
    unfused: &[Step::elementwise("add", &["a", "b"], &["sum"]), Step::elementwise("sigmoid", &["sum"], &["out"])],
    make: |shape, inputs| {
        let n = shape.elements();
        Case::new(shape, vec![inputs.mixed_f32(n), inputs.mixed_f32(n)])
    },
    reference,
    // The sum is rounded once, and an exponential passes its error on: |t| times 2^-24, where |t| is 88 at most before
    // the exponential overflows. The exponential's own two ulps and two roundings are less. Results below the smallest
    // normal number may be flushed to zero.
    tolerances: &[Tolerance { absolute: 1e-30, relative: 1e-5 }],
    // A sum, a sign, an exponential, a sum, a quotient.
    flops: |shape| 5.0 * shape.elements() as f64,
    ..Exercise::TEMPLATE
};

fn reference(case: &Case) -> Vec<Reference> {
    let sums = case.f32s(0).iter().zip(case.f32s(1)).map(|(&a, &b)| f64::from(a) + f64::from(b));
    vec![Reference::Close { values: sums.map(|t| 1.0 / (1.0 + (-t).exp())).collect(), magnitudes: None }]
}
