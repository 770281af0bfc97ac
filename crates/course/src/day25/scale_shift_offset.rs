//! `scale_shift_offset`: a scaling and a shift of views that begin one element past where wide accesses would want them to.

use crate::{Access, Case, DType, Exercise, Param, Reference, Rival, Scalar, ScalarArg, Shape, Step, Tolerance, Inputs};

crate::signature! { inputs(x: f32) outputs(out: f32) scalars(scale: F32(f32), shift: F32(f32)) sizes() }

pub const EXERCISE: Exercise = Exercise {
    name: "scale_shift_offset",
    day: 25,
    definition: "x * scale + shift, 16 bytes an access, of views that begin at any element of a larger buffer",
    // Large problems are judged with both one element off; whether a submission is right, also with either of them moved.
    inputs: &[Param::elements("x", DType::F32).begins_at(1)],
    outputs: &[Param::elements("out", DType::F32).begins_at(1)],
    intermediates: &[Param::elements("scaled", DType::F32)],
    scalars: &["scale", "shift"],
    unfused: &[
        Step::elementwise("scale", &["x"], &["scaled"]).with(&[ScalarArg::Named("scale")]),
        Step::elementwise("add_scalar", &["scaled"], &["out"]).with(&[ScalarArg::Named("shift")]),
    ],
    make,
    reference,
    // As mul_add: one rounding or two, each by 2^-24, of terms that may cancel. 2^-22 is twice the worst.
    tolerances: &[Tolerance { absolute: 0.0, relative: 2.4e-7 }],
    // A product and a sum.
    flops: |shape| 2.0 * shape.elements() as f64,
    rival: Some(Rival {
        name: "the scalar fused kernel",
        step: Step::elementwise("scale_shift_scalar", &["x"], &["out"])
            .with(&[ScalarArg::Named("scale"), ScalarArg::Named("shift")]),
        bar: 1.02,
    }),
    access: Access { load: 16, store: 16 },
    hints: include_str!("scale_shift_offset.md"),
    ..Exercise::TEMPLATE
};

fn make(shape: Shape, inputs: &mut Inputs) -> Case {
    let x = inputs.mixed_f32(shape.elements());
    let scale = inputs.uniform(0.5, 2.0) * if inputs.below(2) == 0 { -1.0 } else { 1.0 };
    let scalars = vec![Scalar::F32(scale), Scalar::F32(inputs.uniform(-3.0, 3.0))];
    Case { scalars, ..Case::new(shape, vec![x]) }
}

fn reference(case: &Case) -> Vec<Reference> {
    let (scale, shift) = (case.scalar(0), case.scalar(1));
    let products: Vec<f64> = case.f64s(0).into_iter().map(|x| x * scale).collect();
    vec![Reference::Close {
        values: products.iter().map(|product| product + shift).collect(),
        magnitudes: Some(products.iter().map(|product| product.abs().max(shift.abs())).collect()),
    }]
}
