//! `layernorm_quant`: a layernorm whose result goes to int8 with one scale a row, as the next layer's matrix product
//! wants it.

use crate::rounding::UNIT;
use crate::{Case, DType, Data, Exercise, Inputs, Param, Reference, Rung, Shape, Shapes, Step, Suspect, Tolerance};

crate::signature! {
    inputs(x: f32, gamma: f32, beta: f32) outputs(q: i8, scale: f32) scalars() sizes(rows, columns)
}

pub const EXERCISE: Exercise = Exercise {
    name: "layernorm_quant",
    day: 24,
    definition: "y = layernorm(x); scale = largest |y| of the row / 127; q = round_half_even(y / scale) as i8",
    inputs: &[
        Param::elements("x", DType::F32),
        Param::columns("gamma", DType::F32),
        Param::columns("beta", DType::F32),
    ],
    outputs: &[Param::elements("q", DType::I8), Param::rows("scale", DType::F32)],
    intermediates: &[Param::elements("y", DType::F32)],
    unfused: &[
        Step::by_row("layernorm_affine", &["x", "gamma", "beta"], &["y"]),
        Step::by_row("row_scale", &["y"], &["scale"]),
        Step::by_row("quantize_rows", &["y", "scale"], &["q"]),
    ],
    shapes: Shapes::Rows {
        // 315 is a multiple of the odd numbers up to 9, for which others may mistake the size of a vector.
        columns: &[1, 31, 32, 33, 127, 128, 315, 1000, 1024, 4096, 5003],
        timed: &[1024, 4096, 16384],
    },
    make,
    reference,
    suspects: &[Suspect::CANCELLATION, Suspect::NEARLY_ALIKE],
    tolerances: &[Tolerance::EXACT, Tolerance { absolute: 0.0, relative: RELATIVE }],
    // A sum for the mean, a difference, a square and a sum for the variance, two products and a sum; a maximum, a quotient, a rounding.
    flops: |shape| 10.0 * shape.elements() as f64,
    // A thread holds 16 elements.
    ladder: &[
        Rung::any("naive", Step::by_row("layernorm_quant_naive", &["x", "gamma", "beta"], &["q", "scale"]).threads(256)),
        Rung::any("one pass", Step::by_row("layernorm_quant_one_pass", &["x", "gamma", "beta"], &["q", "scale"]).elements_of_row(16)).up_to(16384),
        Rung::any("vectorized", Step::by_row("layernorm_quant_vectorized", &["x", "gamma", "beta"], &["q", "scale"]).elements_of_row(16)).up_to(16384).multiple_of(4),
        Rung::any("tuned", Step::by_row("layernorm_quant_tuned_64", &["x", "gamma", "beta"], &["q", "scale"]).threads(64)).up_to(1024).multiple_of(4),
        Rung::any("tuned", Step::by_row("layernorm_quant_tuned_256", &["x", "gamma", "beta"], &["q", "scale"]).threads(256)).up_to(4096).multiple_of(4),
        Rung::any("tuned", Step::by_row("layernorm_quant_tuned_1024", &["x", "gamma", "beta"], &["q", "scale"]).threads(1024)).up_to(16384).multiple_of(4),
    ],
    // Of the chain, the kernel that normalizes reads gamma and beta from the cache again for every row, and so must whoever
    // fuses it: 8 bytes per element that the ideal does not know of.
    bar: 0.8,
    hints: include_str!("layernorm_quant.md"),
    ..Exercise::TEMPLATE
};

const EPSILON: f64 = 1e-5;

/// Elements from which on a problem may be one that is timed; one period of a large problem has a million.
const TIMED: usize = 1 << 18;

/// What the rounding of the scale itself may make; see [`reference`].
const RELATIVE: f64 = 4.0 * UNIT;

/// Rows of zeros and constant rows, whose y is beta: where beta is 0 too, the scale is 0; where beta consists of halves up
/// to 127, the scale is 1 and quotients lie on ties. Small rows make epsilon count; rows far from 0 are about their mean.
fn make(shape: Shape, inputs: &mut Inputs) -> Case {
    let columns = shape.columns.max(1);
    let mut x = inputs.rows(shape);
    let mut gamma = inputs.gains(DType::F32, shape.columns);
    // Large problems are timed, and have ordinary scales: a division may take another way for others.
    let kind = inputs.below(if shape.elements() < TIMED { 6 } else { 4 });
    let mut beta = match kind {
        0 => Data::F32(vec![0.0; shape.columns]),
        1 => {
            let mut halves: Vec<f32> = (0..shape.columns).map(|_| inputs.below(507) as f32 / 2.0 - 126.5).collect();
            let any = inputs.below(columns);
            if let Some(largest) = halves.get_mut(any) {
                *largest = if *largest < 0.0 { -127.0 } else { 127.0 };
            }
            Data::F32(halves)
        }
        _ => inputs.offsets(DType::F32, shape.columns),
    };
    if let Some(&size) = [2.0_f32.powi(-80), 1024.0].get(kind.wrapping_sub(4)) {
        for values in [&mut gamma, &mut beta] {
            if let Data::F32(values) = values {
                values.iter_mut().for_each(|value| *value *= size);
            }
        }
    }
    for row in x.chunks_exact_mut(columns) {
        let change = inputs.below(6);
        let constant = row.iter().all(|value| *value == row[0]);
        for value in row {
            *value = match change {
                // Rounding leaves something of a constant row, or not, unless its sums are exact. With nothing of its own
                // to add to that, y would be a matter of luck.
                _ if constant && kind == 0 => 0.0,
                _ if constant => (*value * 8.0).round() / 8.0,
                0 => *value * 1e-3,
                1 => *value + 20.0,
                _ => *value,
            };
        }
    }
    Case::new(shape, vec![Data::F32(x), gamma, beta])
}

/// In f64, with what f32 may be off by.
fn reference(case: &Case) -> Vec<Reference> {
    let (gamma, beta) = (case.f32s(1), case.f32s(2));
    let mut q = Vec::with_capacity(case.shape.elements());
    let (mut scales, mut magnitudes) = (Vec::new(), Vec::new());
    for row in case.f32s(0).chunks_exact(case.shape.columns.max(1)) {
        let y = normalized(row, gamma, beta);
        let top = y.iter().map(|(y, _)| y.abs()).fold(0.0, f64::max);
        let top_error = y.iter().map(|(_, error)| *error).fold(0.0, f64::max);
        scales.push(top / 127.0);
        magnitudes.push(top / 127.0 + top_error / 127.0 / RELATIVE);
        q.extend(y.iter().map(|&(y, error)| quantized(y, error, top, top_error)));
    }
    vec![Reference::OneOf(q), Reference::Close { values: scales, magnitudes: Some(magnitudes) }]
}

/// y of a row, each with what f32 may be off by.
///
/// A sum over a row is off by a unit of 2^-24 of its terms' sizes for each addition on the way of a term: a 128th of the row
/// and sixteen, which is the most that four warps a row err, and more than fewer do by chance. The mean has that; each x - mean has it from the mean, and a rounding. The sum of squares has it twice
/// over, and the mean's error squared; the root halves that; epsilon, quotient and reciprocal root (two ulps) add eight units.
/// Products and beta add three roundings. In a constant row, whose sums are exact here, nothing but a mean that is
/// computed by a rounded 1 / columns is off.
fn normalized(row: &[f32], gamma: &[f32], beta: &[f32]) -> Vec<(f64, f64)> {
    let columns = row.len() as f64;
    let sum_error = (columns / 128.0 + 16.0) * UNIT;
    let mean = row.iter().map(|&x| f64::from(x)).sum::<f64>() / columns;
    let size = row.iter().map(|&x| f64::from(x).abs()).sum::<f64>() / columns;
    let constant = row.iter().all(|x| *x == row[0]);
    let mean_error = match constant {
        true if row.len().is_power_of_two() => 0.0,
        true => 2.0 * UNIT * size,
        false => sum_error * size,
    };
    let squares: f64 = row.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum();
    let power = squares / columns + EPSILON;
    let factor = 1.0 / power.sqrt();
    let factor_error = sum_error + 8.0 * UNIT + mean_error * mean_error / power;
    let each = row.iter().zip(gamma).zip(beta).map(|((&x, &gamma), &beta)| {
        let (distance, gamma, beta) = (f64::from(x) - mean, f64::from(gamma), f64::from(beta));
        let distance = if constant { 0.0 } else { distance };
        let scaled = distance * factor * gamma;
        let y = scaled + beta;
        let from_distance = (mean_error + distance.abs() * UNIT) * factor * gamma.abs();
        let rounding = if scaled == 0.0 { 0.0 } else { UNIT * y.abs() };
        (y, from_distance + scaled.abs() * (factor_error + 2.0 * UNIT) + rounding)
    });
    each.collect()
}

/// The integers that y / scale may be rounded to, where `top` is the row's largest |y|. The quotient has the errors of y and of
/// `top`, and those of the scale and of a division by way of its reciprocal: four units. A scale of 1 has none.
pub(crate) fn quantized(y: f64, error: f64, top: f64, top_error: f64) -> [f64; 2] {
    if top == 0.0 {
        return [0.0; 2];
    }
    let quotient = 127.0 * y / top;
    let exact = top == 127.0 && top_error == 0.0;
    let own = if exact { 0.0 } else { 4.0 * UNIT * quotient.abs() };
    let off = 127.0 * (error + y.abs() / top * top_error) / top + own;
    [quotient - off, quotient + off].map(|end| end.round_ties_even().clamp(-127.0, 127.0))
}
