//! `transpose_scale`: a matrix turned over, every element times a factor.

use crate::rounding::UNIT;
use crate::{
    Case, DType, Data, Exercise, Inputs, Param, Reference, Rung, Scalar, ScalarArg, Shape, Shapes, Step, Tolerance,
};

crate::signature! { inputs(x: f32) outputs(out: f32) scalars(s: F32(f32)) sizes(rows, columns) }

pub const EXERCISE: Exercise = Exercise {
    name: "transpose_scale",
    day: 23,
    definition: "out[j, i] = s * x[i, j]",
    inputs: &[Param::elements("x", DType::F32)],
    outputs: &[Param::transposed("out", DType::F32)],
    intermediates: &[Param::transposed("turned", DType::F32)],
    scalars: &["s"],
    unfused: &[
        Step::by_tile("transpose", &["x"], &["turned"], 32),
        Step::elementwise("scale", &["turned"], &["out"]).with(&[ScalarArg::Named("s")]),
    ],
    shapes: Shapes::Matrix { timed: &[4096] },
    make,
    reference,
    // One product, rounded once.
    tolerances: &[Tolerance { absolute: f32::MIN_POSITIVE as f64, relative: UNIT }],
    flops: |shape| shape.elements() as f64,
    ladder: &[
        Rung::any("naive", Step::by_tile("transpose_scale_naive", &["x"], &["out"], 32).with(S)),
        Rung::any("tile", Step::by_tile("transpose_scale_tile", &["x"], &["out"], 32).with(S)),
        Rung::any("padded", Step::by_tile("transpose_scale_padded", &["x"], &["out"], 32).with(S)),
        Rung::any("swizzled", Step::by_tile("transpose_scale_swizzled", &["x"], &["out"], 32).with(S)),
        Rung::any("loads ahead", Step::by_tile("transpose_scale_ahead", &["x"], &["out"], 32).with(S)),
    ],
    hints: include_str!("transpose_scale.md"),
    ..Exercise::TEMPLATE
};

const S: &[ScalarArg] = &[ScalarArg::Named("s")];

/// No two elements that a wrong index might exchange are equal: rows and columns differ in offset, and values are mixed.
fn make(shape: Shape, inputs: &mut Inputs) -> Case {
    let x = Data::F32(inputs.mixed(shape.elements()));
    let s = inputs.uniform(0.3, 0.9) * if inputs.below(2) == 0 { -1.0 } else { 1.0 };
    Case { scalars: vec![Scalar::F32(s)], ..Case::new(shape, vec![x]) }
}

fn reference(case: &Case) -> Vec<Reference> {
    let Shape { rows, columns, .. } = case.shape;
    let (x, s) = (case.f32s(0), case.scalar(0));
    let column = |j: usize| (0..rows).map(move |i| s * f64::from(x[i * columns + j]));
    vec![Reference::Close { values: (0..columns).flat_map(column).collect(), magnitudes: None }]
}
