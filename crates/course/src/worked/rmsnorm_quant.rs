//! `rmsnorm_quant`: an RMSNorm whose result goes to int8 with one scale per row, as the next layer's matrix product wants
//! it.

use crate::day24::layernorm_quant::quantized;
use crate::rounding::UNIT;
use crate::{Case, DType, Exercise, Param, Reference, Shapes, Step, Tolerance};

const EPSILON: f64 = 1e-6;

/// What the rounding of the scale itself may make.
const RELATIVE: f64 = 4.0 * UNIT;

pub const OPERATION: Exercise = Exercise {
    name: "rmsnorm_quant",
    day: 24,
    definition: "y = rmsnorm(x); scale = largest |y| of the row / 127; q = round_half_even(y / scale) as i8",
    inputs: &[Param::elements("x", DType::F32), Param::columns("weight", DType::F32)],
    outputs: &[Param::elements("q", DType::I8), Param::rows("scale", DType::F32)],
    intermediates: &[Param::elements("y", DType::F32)],
    unfused: &[
        Step::by_row("rmsnorm_affine", &["x", "weight"], &["y"]),
        Step::by_row("row_scale", &["y"], &["scale"]),
        Step::by_row("quantize_rows", &["y", "scale"], &["q"]),
    ],
    shapes: Shapes::Rows { columns: &[1024, 4096, 16384], timed: &[1024, 4096, 16384] },
    make: |shape, inputs| {
        Case::new(shape, vec![inputs.rows_of(DType::F32, shape), inputs.gains(DType::F32, shape.columns)])
    },
    reference,
    tolerances: &[Tolerance::EXACT, Tolerance { absolute: 0.0, relative: RELATIVE }],
    // A square and a sum, two products, a maximum, a quotient, a rounding.
    flops: |shape| 7.0 * shape.elements() as f64,
    ..Exercise::TEMPLATE
};

/// In f64, with what f32 may be off by: the sum of squares, all positive, a unit of 2^-24 for each addition on the way of
/// a term (a 128th of the row and sixteen), of which the root keeps half; epsilon, quotient, reciprocal root and two
/// products eight more.
fn reference(case: &Case) -> Vec<Reference> {
    let weight = case.f32s(1);
    let (mut q, mut scales, mut magnitudes) = (Vec::with_capacity(case.shape.elements()), Vec::new(), Vec::new());
    for row in case.f32s(0).chunks_exact(case.shape.columns.max(1)) {
        let columns = row.len() as f64;
        let power = row.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>() / columns + EPSILON;
        let relative = ((columns / 128.0 + 16.0) / 2.0 + 8.0) * UNIT;
        let y: Vec<f64> = row.iter().zip(weight).map(|(&x, &w)| f64::from(x) * f64::from(w) / power.sqrt()).collect();
        let top = y.iter().map(|y| y.abs()).fold(0.0, f64::max);
        scales.push(top / 127.0);
        magnitudes.push(top / 127.0 * (1.0 + relative / RELATIVE));
        q.extend(y.iter().map(|&y| quantized(y, y.abs() * relative, top, top * relative)));
    }
    vec![Reference::OneOf(q), Reference::Close { values: scales, magnitudes: Some(magnitudes) }]
}
