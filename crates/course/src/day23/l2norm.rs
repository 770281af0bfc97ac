//! `l2norm`: rows scaled to length 1.

use crate::rounding::{UNIT, sum_error};
use crate::{Case, DType, Data, Exercise, Inputs, Param, Reference, ScalarArg, Shape, Shapes, Step, Tolerance};

crate::signature! { inputs(x: f32) outputs(out: f32) scalars() sizes(rows, columns) }

pub const EXERCISE: Exercise = Exercise {
    name: "l2norm",
    day: 23,
    definition: "x / (sqrt(sum over the row of x^2) + 1e-12)",
    inputs: &[Param::elements("x", DType::F32)],
    outputs: &[Param::elements("out", DType::F32)],
    intermediates: &[Param::elements("squares", DType::F32), Param::rows("sum", DType::F32)],
    unfused: &[
        Step::elementwise("square", &["x"], &["squares"]),
        Step::by_row("row_sum", &["squares"], &["sum"]),
        Step::by_row("divide_by_length", &["x", "sum"], &["out"]).with(&[ScalarArg::Constant(EPSILON)]),
    ],
    shapes: Shapes::Rows { columns: &[1, 31, 32, 33, 35, 127, 128, 1000, 1024, 4096, 5003], timed: &[4096] },
    make,
    reference,
    // A square, a root, a sum, a reciprocal and a product round by 2^-24 each, or by up to four times that where they are
    // approximate: sixteen roundings cover them. What adding the squares is off by is in the reference's magnitudes.
    tolerances: &[Tolerance { absolute: 0.0, relative: RELATIVE }],
    // A square, a sum, a product; the length is one of a row.
    flops: |shape| 3.0 * shape.elements() as f64,
    hints: include_str!("l2norm.md"),
    ..Exercise::TEMPLATE
};

const EPSILON: f32 = 1e-12;
const RELATIVE: f64 = 16.0 * UNIT;

/// Some rows are so short that 1e-12 is a good part of their length, and some so long that it is none.
fn make(shape: Shape, inputs: &mut Inputs) -> Case {
    let mut x = inputs.rows(shape);
    for row in x.chunks_exact_mut(shape.columns.max(1)) {
        let factor = match inputs.below(4) {
            0 => 1e-12,
            1 => 2.5e3,
            _ => 1.0,
        };
        row.iter_mut().for_each(|x| *x *= factor);
    }
    Case::new(shape, vec![Data::F32(x)])
}

fn reference(case: &Case) -> Vec<Reference> {
    let mut values = Vec::with_capacity(case.shape.elements());
    let mut magnitudes = Vec::with_capacity(case.shape.elements());
    for row in case.f32s(0).chunks_exact(case.shape.columns.max(1)) {
        let squares: Vec<f64> = row.iter().map(|&x| f64::from(x) * f64::from(x)).collect();
        let sum: f64 = squares.iter().sum();
        let length = sum.sqrt() + f64::from(EPSILON);
        // A root has half the relative error of its argument.
        let of_sum = if sum > 0.0 { 0.5 * sum_error(&squares) / sum } else { 0.0 };
        for &x in row {
            let value = f64::from(x) / length;
            values.push(value);
            magnitudes.push(value.abs() * (1.0 + of_sum / RELATIVE));
        }
    }
    vec![Reference::Close { values, magnitudes: Some(magnitudes) }]
}
