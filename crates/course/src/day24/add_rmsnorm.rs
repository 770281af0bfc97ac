//! `add_rmsnorm`: the residual stream takes in a layer's result, and the next layer gets its RMSNorm.

use half::bf16;

use crate::{Case, DType, Data, Exercise, Inputs, Param, Reference, Shape, Shapes, Step, Tolerance};

crate::signature! { inputs(x: bf16, weight: bf16) outputs(residual: bf16, out: bf16) scalars() sizes(rows, columns) }

pub const EXERCISE: Exercise = Exercise {
    name: "add_rmsnorm",
    day: 24,
    definition: "residual += x, in place; out = residual / sqrt(mean of residual^2 + 1e-6) * weight",
    inputs: &[Param::elements("x", DType::Bf16), Param::columns("weight", DType::Bf16)],
    outputs: &[Param::elements("residual", DType::Bf16).updated(), Param::elements("out", DType::Bf16)],
    unfused: &[
        Step::elementwise("add_bf16", &["residual", "x"], &["residual"]),
        Step::by_row("rmsnorm_bf16", &["residual", "weight"], &["out"]),
    ],
    shapes: Shapes::Rows {
        // 315 is a multiple of the odd numbers up to 9, for which others may mistake the size of a vector.
        columns: &[1, 31, 32, 33, 127, 128, 315, 1000, 1024, 4096, 5003],
        timed: &[1024, 4096, 16384],
    },
    make,
    reference,
    tolerances: &[Tolerance::EXACT; 2],
    // A sum; a square and a sum; two products.
    flops: |shape| 5.0 * shape.elements() as f64,
    hints: include_str!("add_rmsnorm.md"),
    ..Exercise::TEMPLATE
};

const EPSILON: f64 = 1e-6;

/// Some rows are so small that epsilon counts as much as their squares, and some are large.
fn make(shape: Shape, inputs: &mut Inputs) -> Case {
    let (mut x, mut residual) = (inputs.rows(shape), inputs.rows(shape));
    let columns = shape.columns.max(1);
    for (x, residual) in x.chunks_exact_mut(columns).zip(residual.chunks_exact_mut(columns)) {
        let factor = match inputs.below(6) {
            0 => 1e-3,
            1 => 1e3,
            _ => 1.0,
        };
        x.iter_mut().chain(residual).for_each(|value| *value *= factor);
    }
    let weight = inputs.gains(DType::Bf16, shape.columns);
    let bf16s = |values| Data::rounded(DType::Bf16, values);
    Case { initial: vec![Some(bf16s(residual)), None], ..Case::new(shape, vec![bf16s(x), weight]) }
}

/// The residual is exact: an f32 holds the sum of two bf16, or is so near to one of them that rounding it again makes no
/// difference.
///
/// The f32 sum of squares, all positive, is off by a unit of 2^-24 for each addition on the way of a term: a 32nd
/// of the row, where a warp has it, and sixteen. The root halves that. Quotient, epsilon, reciprocal root (two ulps) and two products add
/// eight units. bf16 keeps 2^-8 of it, so away from the middle between two of its values there is one right result.
fn reference(case: &Case) -> Vec<Reference> {
    let columns = case.shape.columns.max(1);
    let before = case.initial.first().and_then(Option::as_ref).map_or_else(Vec::new, Data::to_f64);
    let sums = case.f64s(0).into_iter().zip(before).map(|(x, r)| (x + r, 0.0));
    let residual = Reference::rounded(DType::Bf16, sums);
    let Reference::OneOf(values) = &residual else { return vec![residual] };

    let weight = case.f64s(1);
    let error = ((columns as f64 / 32.0 + 16.0) / 2.0 + 8.0) * f64::from(f32::EPSILON) / 2.0;
    let mut numbers = Vec::with_capacity(values.len());
    for row in values.chunks_exact(columns) {
        let squares: f64 = row.iter().map(|[r, _]| r * r).sum();
        let root = (squares / columns as f64 + EPSILON).sqrt();
        numbers.extend(row.iter().zip(&weight).map(|([r, _], w)| {
            let value = r / root * w;
            (value, value.abs() * error)
        }));
    }
    let out = Reference::rounded(DType::Bf16, numbers);
    vec![residual, out]
}
