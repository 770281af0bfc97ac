//! `rmsnorm_short_rows`: RMSNorm of rows so short that a block for each would be mostly idle.

use half::f16;

use crate::{Case, DType, Data, Exercise, Inputs, Param, Reference, Rung, ScalarArg, Shape, Shapes, Step, Tolerance};

crate::signature! { inputs(x: f16, weight: f16) outputs(out: f16) scalars() sizes(rows, columns) }

/// Added to the mean of the squares, so that a row of zeros can be divided.
const EPSILON: f32 = 1e-6;

pub const EXERCISE: Exercise = Exercise {
    name: "rmsnorm_short_rows",
    day: 26,
    definition: "x / sqrt(mean of the row's x^2 + 1e-6) * weight, rows of 64 to 1024",
    inputs: &[Param::elements("x", DType::F16), Param::columns("weight", DType::F16)],
    outputs: &[Param::elements("out", DType::F16)],
    intermediates: &[
        Param::elements("squares", DType::F32),
        Param::rows("means", DType::F32),
        Param::elements("normed", DType::F16),
    ],
    unfused: &[
        Step::elementwise("square_f16", &["x"], &["squares"]),
        Step::by_row("mean_of_short_rows", &["squares"], &["means"]).rows_a_block(8),
        Step::by_row("scale_rows_f16", &["x", "means"], &["normed"])
            .with(&[ScalarArg::Constant(EPSILON)])
            .rows_a_block(8),
        Step::by_row("mul_columns_f16", &["normed", "weight"], &["out"]).rows_a_block(8),
    ],
    shapes: Shapes::Rows {
        columns: &[1, 31, 33, 63, 64, 100, 127, 128, 256, 512, 1024, 2056],
        timed: &[64, 128, 256, 512, 1024],
    },
    surveyed: 1 << 21,
    make,
    reference,
    // The one rounding to f16 is 2^-11 of the result, or 2^-25 where the result is subnormal. A sum of 1024 squares in
    // f32 is off by less than 1024 * 2^-24 = 2^-14 even when one thread adds them all, and half of that reaches the
    // root; rsqrtf and the two products add a few 2^-23. A second rounding to f16 is as large as the first, and too much.
    tolerances: &[Tolerance { absolute: 3.1e-8, relative: 5.3e-4 }],
    // A square, a sum, two products.
    flops: |shape| 4.0 * shape.elements() as f64,
    ladder: &[
        Rung::any("a block a row", Step::by_row("rmsnorm_block_a_row", &["x", "weight"], &["out"]))
            .up_to(1024)
            .multiple_of(8),
        Rung::any("a warp a row", Step::by_row("rmsnorm_warp_a_row", &["x", "weight"], &["out"]).rows_a_block(8))
            .up_to(1024)
            .multiple_of(8),
    ],
    // The emulated device's model sends every request to the L2, so that a second look at x, which a GPU's L1 answers,
    // costs a sixth of the speed there. It must not fail a kernel that has everything else right.
    bar: 0.75,
    hints: include_str!("rmsnorm_short_rows.md"),
    ..Exercise::TEMPLATE
};

/// Rows of very different sizes: the squares of some overflow in f16, those of others are about as small as epsilon.
fn make(shape: Shape, inputs: &mut Inputs) -> Case {
    let mut x = inputs.rows(shape);
    for (row, values) in x.chunks_mut(shape.columns.max(1)).enumerate() {
        let scale = match (row + shape.columns) % 7 {
            3 => 1000.0,
            5 => 1e-3,
            _ => 1.0,
        };
        values.iter_mut().for_each(|value| *value *= scale);
    }
    Case::new(shape, vec![Data::rounded(DType::F16, x), inputs.gains(DType::F16, shape.columns)])
}

fn reference(case: &Case) -> Vec<Reference> {
    let (x, weight) = (case.f64s(0), case.f64s(1));
    let mut values = Vec::with_capacity(x.len());
    for row in x.chunks(case.shape.columns.max(1)) {
        let mean = row.iter().map(|x| x * x).sum::<f64>() / row.len() as f64;
        let factor = 1.0 / (mean + f64::from(EPSILON)).sqrt();
        values.extend(row.iter().zip(&weight).map(|(x, w)| x * factor * w));
    }
    vec![Reference::Close { values, magnitudes: None }]
}
