//! `layernorm_wide_rows`: layernorm of rows so long that no block has room for one, and a cluster of blocks has.

use crate::rounding::{UNIT, layernorm};
use crate::{Case, DType, Data, Exercise, Inputs, Param, Reference, Rung, ScalarArg, Shape, Shapes, Step, Suspect, Tolerance};

crate::signature! { inputs(x: f32, gamma: f32, beta: f32) outputs(out: f32) scalars() sizes(rows, columns) }

pub const EXERCISE: Exercise = Exercise {
    name: "layernorm_wide_rows",
    day: 26,
    definition: "layernorm(x; gamma, beta, 1e-5), population variance, rows of 16K to 128K",
    inputs: &[
        Param::elements("x", DType::F32),
        Param::columns("gamma", DType::F32),
        Param::columns("beta", DType::F32),
    ],
    outputs: &[Param::elements("out", DType::F32)],
    intermediates: &[
        Param::rows("means", DType::F32),
        Param::elements("centred", DType::F32),
        Param::rows("variances", DType::F32),
    ],
    // Of long rows there are few, and so a block has as many threads as it may.
    unfused: &[
        Step::by_row("row_mean", &["x"], &["means"]).elements_of_row(16),
        Step::by_row("subtract_from_rows", &["x", "means"], &["centred"]).elements_of_row(16),
        Step::by_row("row_mean_of_squares", &["centred"], &["variances"]).elements_of_row(16),
        Step::by_row("normalize_rows", &["centred", "variances", "gamma", "beta"], &["out"])
            .with(&[ScalarArg::Constant(EPSILON)])
            .elements_of_row(16),
    ],
    shapes: Shapes::Rows {
        // The last four are shared among the blocks of a cluster: two of them leave a part that is shorter than the others. The last
        // one is longer than any that is timed.
        columns: &[1, 31, 33, 1000, 4100, 5003, 20_004, 40_004, 40_007, 65_540, 131_076],
        timed: &[16_384, 32_768, 65_536, 131_072],
    },
    surveyed: 1 << 19,
    // Three of the longest rows.
    most_work: 400_000,
    make,
    reference,
    suspects: &[Suspect::CANCELLATION],
    // All of it is in the reference's magnitudes.
    tolerances: &[Tolerance { absolute: 0.0, relative: UNIT }],
    // A sum for the mean, a difference, a square and a sum for the variance, two products and a sum.
    flops: |shape| 7.0 * shape.elements() as f64,
    ladder: &[
        Rung::any("three walks", fused("layernorm_wide_rows_walks").elements_of_row(16)),
        // What a block of an H200 has room for, beside the arrays of the reductions.
        Rung::any("a block keeps it", fused("layernorm_wide_rows_block").elements_of_row(16).row_in_shared(4)).up_to(57_344),
        Rung::any("a cluster keeps it", shared("layernorm_wide_rows_cluster")).up_to(LONGEST).multiple_of(4),
        Rung::any("16 bytes", shared("layernorm_wide_rows_packs")).up_to(LONGEST).multiple_of(4),
        Rung::any("one exchange", shared("layernorm_wide_rows_once")).up_to(LONGEST).multiple_of(4),
    ],
    // gamma and beta are read for every row, which costs no byte from DRAM, but time.
    bar: 0.75,
    hints: include_str!("layernorm_wide_rows.md"),
    ..Exercise::TEMPLATE
};

const EPSILON: f32 = 1e-5;

/// The longest row that eight blocks keep: more than one of them has room on a multiprocessor.
const LONGEST: usize = 131_072;

const fn fused(kernel: &'static str) -> Step {
    Step::by_row(kernel, &["x", "gamma", "beta"], &["out"])
}

/// Eight blocks share a row. With as many elements per thread, 512 threads have the longest part, and several blocks have room on a
/// multiprocessor.
const fn shared(kernel: &'static str) -> Step {
    fused(kernel).blocks_a_row(8).row_in_shared(4).elements_of_row(32)
}

/// Threads that share the sums of a row, at least. A single one would add up 131,072 terms, one after another.
const THREADS: usize = 32;

/// Some rows lie thousands of times as far from zero as they spread. There, the mean of the squares minus the square of the mean says
/// nothing, and a mean over a part of the row is far off.
fn make(shape: Shape, inputs: &mut Inputs) -> Case {
    let mut x = inputs.rows(shape);
    let far = inputs.below(3);
    for (number, row) in x.chunks_exact_mut(shape.columns.max(1)).enumerate() {
        let distance = inputs.uniform(1500.0, 3000.0) * if inputs.below(2) == 0 { -1.0 } else { 1.0 };
        if number % 3 == far {
            let offset = distance * deviation(row);
            row.iter_mut().for_each(|x| *x += offset);
        }
    }
    let gamma = inputs.gains(DType::F32, shape.columns);
    let beta = inputs.offsets(DType::F32, shape.columns);
    Case::new(shape, vec![Data::F32(x), gamma, beta])
}

/// The standard deviation of a row.
fn deviation(row: &[f32]) -> f32 {
    let mean = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / row.len().max(1) as f64;
    let middle = mean(&mut row.iter().map(|&x| f64::from(x)));
    mean(&mut row.iter().map(|&x| (f64::from(x) - middle).powi(2))).sqrt() as f32
}

/// In f64, with the errors of f32 as magnitudes, to first order: those of layernorm, and of the sum with beta.
fn reference(case: &Case) -> Vec<Reference> {
    let mut values = Vec::with_capacity(case.shape.elements());
    let mut magnitudes = Vec::with_capacity(case.shape.elements());
    let [gamma, beta] = [1, 2].map(|input| case.f64s(input));
    for row in case.f32s(0).chunks_exact(case.shape.columns.max(1)) {
        for (normed, beta) in layernorm(row, &gamma, EPSILON, THREADS).into_iter().zip(&beta) {
            let value = normed.value + beta;
            values.push(value);
            magnitudes.push(value.abs() + normed.error / UNIT + 4.0 * beta.abs());
        }
    }
    vec![Reference::Close { values, magnitudes: Some(magnitudes) }]
}
