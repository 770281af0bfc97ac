//! `softmax`: a maximum, exponentials, their sum and a quotient, row by row.

use crate::rounding::{UNIT, sum_error};
use crate::{Case, DType, Data, Exercise, Inputs, Param, Reference, Rung, Shape, Shapes, Step, Suspect, Tolerance};

crate::signature! { inputs(x: f32) outputs(out: f32) scalars() sizes(rows, columns) }

pub const EXERCISE: Exercise = Exercise {
    name: "softmax",
    day: 23,
    definition: "exp(x - max of row) / (sum of these over the row)",
    inputs: &[Param::elements("x", DType::F32)],
    outputs: &[Param::elements("out", DType::F32)],
    intermediates: &[
        Param::rows("largest", DType::F32),
        Param::elements("exponentials", DType::F32),
        Param::rows("sum", DType::F32),
    ],
    unfused: &[
        Step::by_row("row_max", &["x"], &["largest"]),
        Step::by_row("exp_of_difference", &["x", "largest"], &["exponentials"]),
        Step::by_row("row_sum", &["exponentials"], &["sum"]),
        Step::by_row("divide_rows", &["exponentials", "sum"], &["out"]),
    ],
    shapes: Shapes::Rows {
        columns: &[1, 31, 32, 33, 35, 127, 128, 1000, 1024, 4096, 5003],
        timed: &[1024, 4096, 16384],
    },
    make,
    reference,
    suspects: &[Suspect::OVERFLOW, Suspect::NEGATIVE],
    // What the exponential and the sum are off by is in the reference's magnitudes. Results below the smallest normal
    // number may be flushed to zero, hence the absolute part.
    tolerances: &[Tolerance { absolute: f32::MIN_POSITIVE as f64, relative: RELATIVE }],
    // A maximum, a difference, an exponential, a sum, a quotient.
    flops: |shape| 5.0 * shape.elements() as f64,
    // A thread holds 16 elements.
    ladder: &[
        Rung::any("naive", Step::by_row("softmax_naive", &["x"], &["out"]).threads(256)),
        Rung::any("one pass", Step::by_row("softmax_one_pass", &["x"], &["out"]).elements_of_row(16)).up_to(16384),
        Rung::any("vectorized", Step::by_row("softmax_vectorized", &["x"], &["out"]).elements_of_row(16)).up_to(16384).multiple_of(4),
        Rung::any("tuned", Step::by_row("softmax_tuned_64", &["x"], &["out"]).threads(64)).up_to(1024).multiple_of(4),
        Rung::any("tuned", Step::by_row("softmax_tuned_256", &["x"], &["out"]).threads(256)).up_to(4096).multiple_of(4),
        Rung::any("tuned", Step::by_row("softmax_tuned_1024", &["x"], &["out"]).threads(1024)).up_to(16384).multiple_of(4),
    ],
    hints: include_str!("softmax.md"),
    ..Exercise::TEMPLATE
};

const RELATIVE: f64 = 16.0 * UNIT;

/// Some rows lie so high that an exponential overflows, some so low that all of them vanish, and in some the largest
/// element leaves nothing for the others: unless the largest element is subtracted first.
fn make(shape: Shape, inputs: &mut Inputs) -> Case {
    let mut x = inputs.rows(shape);
    // In turn, so that three rows have all three.
    for (number, row) in x.chunks_exact_mut(shape.columns.max(1)).enumerate() {
        // The row of zeros stays.
        if row.iter().all(|x| *x == 0.0) {
            continue;
        }
        for x in row {
            *x = match number % 6 {
                0 => *x * 2.5e3,
                1 => *x + 1e4,
                2 => *x - 1e4,
                _ => *x,
            };
        }
    }
    Case::new(shape, vec![Data::F32(x)])
}

/// In f64, with the errors of f32 as magnitudes. With d for x - max, which is at most 104 where anything is left:
/// rounding d makes a relative error of |d| 2^-24, and the exponential itself one of 2 ulp (expf) or 2 + 1.173 |d| ulp
/// (`__expf`; CUDA C++ Programming Guide, "Mathematical Functions"), where an ulp is 2^-23: 4 + 3.4 |d| units
/// of 2^-24, taken as 4 + 5 |d|. The sum has that from its terms, and what adding them is off by; then a quotient.
fn reference(case: &Case) -> Vec<Reference> {
    let mut values = Vec::with_capacity(case.shape.elements());
    let mut magnitudes = Vec::with_capacity(case.shape.elements());
    let of_exponential = |d: f64| UNIT * (4.0 + 5.0 * d.abs());
    for row in case.f32s(0).chunks_exact(case.shape.columns.max(1)) {
        let top = f64::from(row.iter().copied().fold(f32::NEG_INFINITY, f32::max));
        let differences: Vec<f64> = row.iter().map(|&x| f64::from(x) - top).collect();
        let terms: Vec<f64> = differences.iter().map(|d| d.exp()).collect();
        let sum: f64 = terms.iter().sum();
        let of_terms: f64 = terms.iter().zip(&differences).map(|(term, &d)| term * of_exponential(d)).sum();
        let of_sum = (sum_error(&terms) + of_terms) / sum;
        for (term, &d) in terms.iter().zip(&differences) {
            values.push(term / sum);
            magnitudes.push(term / sum * (1.0 + (of_exponential(d) + of_sum) / RELATIVE));
        }
    }
    vec![Reference::Close { values, magnitudes: Some(magnitudes) }]
}
