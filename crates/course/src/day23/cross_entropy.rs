//! `cross_entropy`: a classifier's loss, one number for each row of a matrix that nothing has room to keep.

use crate::rounding::{UNIT, sum_error};
use crate::{Case, DType, Data, Exercise, Inputs, Param, Reference, Rung, Shape, Shapes, Step, Suspect, Tolerance};

crate::signature! { inputs(x: f32, labels: i32) outputs(loss: f32) scalars() sizes(rows, columns) }

pub const EXERCISE: Exercise = Exercise {
    name: "cross_entropy",
    day: 23,
    definition: "log(sum over the row of exp(x)) - x[label]; 0 where the label is -100",
    inputs: &[Param::elements("x", DType::F32), Param::rows("labels", DType::I32)],
    outputs: &[Param::rows("loss", DType::F32)],
    intermediates: &[
        Param::rows("largest", DType::F32),
        Param::rows("chosen", DType::F32),
        Param::elements("exponentials", DType::F32),
        Param::rows("sum", DType::F32),
    ],
    // Of long rows there are few, and so a block has as many threads as it may.
    unfused: &[
        Step::by_row("row_max_and_label", &["x", "labels"], &["largest", "chosen"]).elements_of_row(16),
        Step::by_row("exp_of_difference", &["x", "largest"], &["exponentials"]).elements_of_row(16),
        Step::by_row("row_sum", &["exponentials"], &["sum"]).elements_of_row(16),
        Step::by_row("loss_of_sum", &["sum", "largest", "chosen", "labels"], &["loss"]).rows_a_block(256),
    ],
    shapes: Shapes::Rows {
        columns: &[1, 31, 32, 33, 35, 127, 128, 1000, 1024, 4096, 5003],
        // The last two are vocabularies. A block has no room for a row of the last one.
        timed: &[4096, 32_000, 128_256],
    },
    make,
    reference,
    suspects: &[Suspect::OVERFLOW, Suspect::NEGATIVE],
    // All of it is in the reference's magnitudes.
    tolerances: &[Tolerance { absolute: 0.0, relative: UNIT }],
    // A maximum, a difference, an exponential, a sum.
    flops: |shape| 4.0 * shape.elements() as f64,
    ladder: &[
        rung("two walks", "cross_entropy_two_walks"),
        rung("online", "cross_entropy_online"),
        rung("one exponential", "cross_entropy_one_exponential"),
        rung("eight at once", "cross_entropy_eight"),
        rung("packs", "cross_entropy_packs").multiple_of(4),
    ],
    hints: include_str!("cross_entropy.md"),
    ..Exercise::TEMPLATE
};

/// A block a row, with a thread for each 16 elements of a short one.
const fn rung(name: &'static str, kernel: &'static str) -> Rung {
    Rung::any(name, Step::by_row(kernel, &["x", "labels"], &["loss"]).elements_of_row(16))
}

/// A row with this label has no loss.
const IGNORED: i32 = -100;

/// Elements from which on a problem may be one that is timed: there every row counts, since one that does not need not be read.
const TIMED: usize = 1 << 16;

/// Some rows lie so high that an exponential overflows, some so low that all of them vanish, and in some the largest element
/// leaves nothing for the others. In some it is the last one, or any, that counts more than all others: of 100,000 alike, none
/// would be missed. The label may be any column, often the first, the last or that of the largest element, and
/// some rows have none; now and then no row has one.
fn make(shape: Shape, inputs: &mut Inputs) -> Case {
    let mut x = inputs.rows(shape);
    let is_timed = shape.elements() >= TIMED;
    let none_counts = !is_timed && inputs.below(8) == 0;
    // Wherever three rows follow each other, one is far from zero.
    let first = inputs.below(6);
    let mut labels = Vec::with_capacity(shape.rows);
    for (number, row) in x.chunks_exact_mut(shape.columns.max(1)).enumerate() {
        // The row of zeros stays.
        if row.iter().any(|x| *x != 0.0) {
            if (first + number) % 6 == 5 {
                let any = inputs.below(row.len());
                let one = if ((first + number) / 6).is_multiple_of(2) { row.len() - 1 } else { any };
                row[one] += 12.0;
            }
            for x in &mut *row {
                *x = match (first + number) % 6 {
                    0 => *x * 2.5e3,
                    2 => *x + 1e4,
                    4 => *x - 1e4,
                    _ => *x,
                };
            }
        }
        let column = match inputs.below(8) {
            // Of a vocabulary, a column beyond what 16 bits count.
            _ if is_timed && number == 0 => row.len() - 1,
            0 => 0,
            1 => row.len() - 1,
            2 => (0..row.len()).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap_or(0),
            _ => inputs.below(row.len()),
        };
        let is_ignored = none_counts || !is_timed && inputs.below(6) == 0;
        labels.push(if is_ignored { IGNORED } else { column as i32 });
    }
    // Rows of nothing have no column to name.
    labels.resize(shape.rows, IGNORED);
    Case::new(shape, vec![Data::F32(x), Data::I32(labels)])
}

/// In f64, with the errors of f32 as magnitudes.
fn reference(case: &Case) -> Vec<Reference> {
    let rows = case.f32s(0).chunks_exact(case.shape.columns.max(1));
    let losses = rows.zip(case.f64s(1)).map(|(row, label)| match row.get(label as usize) {
        Some(&chosen) if label >= 0.0 => loss(row, f64::from(chosen)),
        _ => (0.0, 0.0),
    });
    let (values, magnitudes) = losses.map(|(loss, error)| (loss, error / UNIT)).unzip();
    vec![Reference::Close { values, magnitudes: Some(magnitudes) }]
}

/// A row's loss, and what f32 may be off by.
///
/// An exponential is off as in `softmax`: 4 + 5 |d| units of 2^-24, where d is its argument. In a sum that is corrected when the
/// maximum grows, a term is multiplied by further exponentials, whose arguments add up to the rest of d: 4 units for each, and one
/// for the product. In values of no order a maximum grows ln n times over n of them, and then in every step of a tree over the
/// threads; twice as often is admitted. The logarithm takes the sum's relative error as an absolute one, and adds 3 ulps of its own,
/// or 2^-21.4 near 1 (`__logf`; CUDA C++ Programming Guide, "Mathematical Functions"). Last come the sums with the largest
/// element and with the label's, in any order: in one of them the largest element itself is rounded, as it is where the
/// exponentials are powers of two, of x and of the largest element times log2(e).
fn loss(row: &[f32], chosen: f64) -> (f64, f64) {
    let top = f64::from(row.iter().copied().fold(f32::NEG_INFINITY, f32::max));
    let differences: Vec<f64> = row.iter().map(|&x| f64::from(x) - top).collect();
    let terms: Vec<f64> = differences.iter().map(|d| d.exp()).collect();
    let sum: f64 = terms.iter().sum();
    let corrections = 2.0 * (1.0 + (row.len() as f64).log2());
    let of_exponentials = |d: f64| UNIT * (4.0 + 5.0 * d.abs() + 5.0 * corrections);
    let of_terms: f64 = terms.iter().zip(&differences).map(|(term, &d)| term * of_exponentials(d)).sum();
    let log = sum.ln();
    let loss = log + (top - chosen);
    let of_sum = (sum_error(&terms) + of_terms) / sum;
    let own = UNIT * (6.0 + 6.0 * log.abs() + 4.0 * top.abs() + (top - chosen).abs() + 2.0 * loss.abs());
    (loss, of_sum + own)
}
