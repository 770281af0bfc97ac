//! `rmsnorm_fp8`: an RMSNorm whose result goes to 8-bit floats with one scale a row, as the next layer's matrix product
//! wants it.

use half::bf16;

use crate::rounding::UNIT;
use crate::{Case, DType, Data, E4m3, Exercise, Inputs, Param, Reference, Shape, Shapes, Step, Suspect, Tolerance};

crate::signature! { inputs(x: bf16, weight: bf16) outputs(q: u8, scale: f32) scalars() sizes(rows, columns) }

pub const EXERCISE: Exercise = Exercise {
    name: "rmsnorm_fp8",
    day: 24,
    definition: "y = x / sqrt(mean of x^2 + 1e-6) * weight; scale = largest |y| of the row / 448; q = y / scale as e4m3",
    inputs: &[Param::elements("x", DType::Bf16), Param::columns("weight", DType::Bf16)],
    outputs: &[Param::elements("q", DType::E4m3), Param::rows("scale", DType::F32)],
    intermediates: &[Param::elements("y", DType::Bf16)],
    unfused: &[
        Step::by_row("rmsnorm_bf16", &["x", "weight"], &["y"]),
        Step::by_row("quantize_fp8_rows", &["y"], &["q", "scale"]),
    ],
    shapes: Shapes::Rows {
        // 315 is a multiple of the odd numbers up to 9, for which others may mistake the size of a vector.
        columns: &[1, 31, 32, 33, 127, 128, 315, 1000, 1024, 4096, 5003],
        timed: &[1024, 4096, 16384],
    },
    make,
    reference,
    suspects: &[Suspect::NEAR_ZERO],
    tolerances: &[Tolerance::EXACT, Tolerance { absolute: 0.0, relative: RELATIVE }],
    // A square and a sum; two products; a maximum, a quotient, a rounding.
    flops: |shape| 7.0 * shape.elements() as f64,
    // The weight is read from the cache again for every row, and a thread that takes two elements of 2 bytes has few bytes in flight.
    bar: 0.75,
    hints: include_str!("rmsnorm_fp8.md"),
    ..Exercise::TEMPLATE
};

const EPSILON: f64 = 1e-6;

/// Elements from which on a problem may be one that is timed; one period of a large problem has a million.
const TIMED: usize = 1 << 18;

/// The scale's tolerance is wider by the errors of a row's sum; see [`reference`].
const RELATIVE: f64 = 4.0 * UNIT;

/// Some rows are so small that epsilon counts as much as their squares, some are large, and some have their largest element where
/// a warp of a strided loop begins, which one that leaves out elements misses. In some problems with weights of 1 and -1 there are
/// rows of [`ties`].
fn make(shape: Shape, inputs: &mut Inputs) -> Case {
    let columns = shape.columns.max(1);
    let mut x = inputs.rows(shape);
    let exact = columns.is_power_of_two() && (64..=4096).contains(&columns) && shape.elements() < TIMED;
    let tied = exact && inputs.below(3) == 0;
    for row in x.chunks_exact_mut(columns) {
        match inputs.below(6) {
            0 => row.iter_mut().for_each(|value| *value *= 1e-3),
            1 => row.iter_mut().for_each(|value| *value *= 1e3),
            2 => row[inputs.below(columns.div_ceil(32)) * 32] = 64.0,
            3..5 if tied => row.copy_from_slice(&ties(columns, inputs)),
            _ => {}
        }
    }
    let signs = |inputs: &mut Inputs| (0..shape.columns).map(|_| if inputs.below(4) == 0 { -1.0 } else { 1.0 }).collect();
    let weight = match tied {
        true => Data::rounded(DType::Bf16, signs(inputs)),
        false => inputs.gains(DType::Bf16, shape.columns),
    };
    Case::new(shape, vec![Data::rounded(DType::Bf16, x), weight])
}

/// The mean of the squares of a row of ties: its root is a power of two, and epsilon is lost beside it in f32.
const MEAN: usize = 4096;

/// A row whose quotients are its own values, in f32 too: integers whose squares have the sum `MEAN * columns`, at most 2^24, and
/// whose largest is 448. Most of them lie in the middle between two values of e4m3.
fn ties(columns: usize, inputs: &mut Inputs) -> Vec<f32> {
    /// Elements that take up what is left of the sum.
    const LAST: usize = 24;
    let largest = E4m3::MAX as usize;
    let mut left = (MEAN * columns).saturating_sub(largest * largest);
    let mut row = vec![largest as f32];
    for others in (0..columns - 1).rev() {
        let each = left / (others + 1);
        let shift = usize::from(each > MEAN / 4) + usize::from(each > MEAN);
        // Five bits, of which four are kept.
        let tie = (17 + 2 * inputs.below(8)) << shift;
        let size = if others < LAST || tie * tie > left { left.isqrt().min(largest) } else { tie };
        // What bf16 holds: eight bits.
        let size = if size > 256 { size & !1 } else { size };
        left -= size * size;
        row.push(if inputs.below(2) == 0 { size as f32 } else { -(size as f32) });
    }
    row.swap(0, inputs.below(columns));
    row
}

/// In f64, with what f32 may be off by.
///
/// The f32 sum of squares, all positive, is off by a unit of 2^-24 for each addition on the way of a term: a 32nd
/// of the row, where a warp has it, and sixteen. The root halves that. Quotient, epsilon, reciprocal root (two ulps), two products and
/// the division by 448 add ten units. All of a row has the same factor, so that a quotient y / scale is not off by that: two
/// products each of y and of the largest |y|, two divisions and a reciprocal are eight units.
fn reference(case: &Case) -> Vec<Reference> {
    let columns = case.shape.columns.max(1);
    let weight = case.f64s(1);
    let error = ((columns as f64 / 32.0 + 16.0) / 2.0 + 10.0) * UNIT;
    let mut q = Vec::with_capacity(case.shape.elements());
    let mut scales = Vec::new();
    for row in case.f64s(0).chunks_exact(columns) {
        let squares: f64 = row.iter().map(|x| x * x).sum();
        let root = (squares / columns as f64 + EPSILON).sqrt();
        let products: Vec<f64> = row.iter().zip(&weight).map(|(x, w)| x * w).collect();
        let top = products.iter().fold(0.0_f64, |top, product| top.max(product.abs()));
        scales.push(top / root / E4m3::MAX);
        let exact = squares == (MEAN * columns) as f64 && columns.is_power_of_two() && weight.iter().all(|w| w.abs() == 1.0);
        let off = if exact { 0.0 } else { 8.0 * UNIT };
        q.extend(products.iter().map(|product| {
            let quotient = if top > 0.0 { E4m3::MAX * product / top } else { 0.0 };
            [quotient * (1.0 - off), quotient * (1.0 + off)].map(|end| E4m3::from_f64(end).to_f64())
        }));
    }
    let magnitudes = scales.iter().map(|scale| scale * error / RELATIVE).collect();
    vec![Reference::OneOf(q), Reference::Close { values: scales, magnitudes: Some(magnitudes) }]
}
