//! The specifications of Day 23: bytes as the course states them, tolerances that admit f32 in any order of summation
//! and nothing coarser, and rows on which every shortcut shows.
#![allow(clippy::unwrap_used)]

use assert_approx_eq::assert_approx_eq;
use fusion_course::{Case, Data, Exercise, Inputs, Mismatch, Shape, find};
use half::f16;

const SEEDS: std::ops::Range<u64> = 0..4;
const NAMES: [&str; 3] = ["l2norm", "softmax", "layernorm_bias_gelu"];

/// The shapes of a run. The large ones would take most of the time: they are left to `long_rows_pass`.
fn cases(exercise: &'static Exercise, seed: u64) -> impl Iterator<Item = Case> {
    let shapes = exercise.shapes.all(seed).into_iter().filter(|shape| (1..40_000).contains(&shape.elements()));
    shapes.map(move |shape| case(exercise, shape, seed))
}

fn case(exercise: &Exercise, shape: Shape, seed: u64) -> Case {
    (exercise.make)(shape, &mut Inputs::new(seed))
}

/// The verdict on an output.
fn check(exercise: &Exercise, case: &Case, output: Vec<f32>) -> Result<(), Mismatch> {
    (exercise.reference)(case)[0].check(&Data::F32(output), exercise.tolerances[0])
}

/// How a kernel adds up.
#[derive(Clone, Copy, Debug)]
enum Order {
    /// One element after the other.
    OneByOne,
    /// 256 threads with every 256th element each, and then their sums, two by two.
    ByThreads,
}

fn sum(terms: &[f32], order: Order) -> f32 {
    match order {
        Order::OneByOne => terms.iter().sum(),
        Order::ByThreads => {
            let mut sums: Vec<f32> = (0..256).map(|thread| terms.iter().skip(thread).step_by(256).sum()).collect();
            while sums.len() > 1 {
                sums = sums.chunks(2).map(|pair| pair[0] + pair[1]).collect();
            }
            sums[0]
        }
    }
}

fn gelu(t: f32) -> f32 {
    0.5 * t * (1.0 + (0.797_884_6 * (t + 0.044715 * t * t * t)).tanh())
}

/// A row-wise operation in f32: the row, the parameters of its columns, and the order of its sums.
type RowOperation = fn(&[f32], &[&[f32]], Order) -> Vec<f32>;

/// The output, row by row.
fn by_row(case: &Case, order: Order, operation: RowOperation) -> Vec<f32> {
    let parameters: Vec<&[f32]> = (1..case.inputs.len()).map(|input| case.f32s(input)).collect();
    case.f32s(0).chunks_exact(case.shape.columns).flat_map(|row| operation(row, &parameters, order)).collect()
}

fn largest(row: &[f32]) -> f32 {
    row.iter().copied().fold(f32::NEG_INFINITY, f32::max)
}

fn l2norm(row: &[f32], _: &[&[f32]], order: Order) -> Vec<f32> {
    let length = sum(&row.iter().map(|x| x * x).collect::<Vec<_>>(), order).sqrt() + 1e-12;
    row.iter().map(|x| x / length).collect()
}

fn softmax(row: &[f32], _: &[&[f32]], order: Order) -> Vec<f32> {
    let top = largest(row);
    let terms: Vec<f32> = row.iter().map(|x| (x - top).exp()).collect();
    let factor = 1.0 / sum(&terms, order);
    terms.iter().map(|term| term * factor).collect()
}

/// Layernorm, bias and GELU, given the mean and the factor of the row.
fn normalised(row: &[f32], parameters: &[&[f32]], mean: f32, factor: f32) -> Vec<f32> {
    let [gamma, beta, bias] = parameters else { unreachable!() };
    let columns = row.iter().zip(*gamma).zip(beta.iter().zip(*bias));
    columns.map(|((x, gamma), (beta, bias))| gelu((x - mean) * factor * gamma + beta + bias)).collect()
}

fn mean_and_variance(row: &[f32], order: Order) -> (f32, f32) {
    let mean = sum(row, order) / row.len() as f32;
    let squares: Vec<f32> = row.iter().map(|x| (x - mean) * (x - mean)).collect();
    (mean, sum(&squares, order) / row.len() as f32)
}

fn layernorm_bias_gelu(row: &[f32], parameters: &[&[f32]], order: Order) -> Vec<f32> {
    let (mean, variance) = mean_and_variance(row, order);
    normalised(row, parameters, mean, 1.0 / (variance + 1e-5).sqrt())
}

fn operation(name: &str) -> RowOperation {
    match name {
        "l2norm" => l2norm,
        "softmax" => softmax,
        _ => layernorm_bias_gelu,
    }
}

#[test]
fn bytes_are_those_of_the_course() {
    for (name, unfused, fused) in
        [("l2norm", 20, 8), ("softmax", 24, 8), ("layernorm_bias_gelu", 24, 8), ("cross_entropy", 16, 4)]
    {
        let exercise = find(name).unwrap();
        // Many rows: what a row or a column has beside them counts for little.
        let shape = Shape::of(4096, 4096);
        let per_element = |bytes: u64| bytes as f64 / shape.elements() as f64;
        assert_approx_eq!(per_element(exercise.unfused_bytes(shape)), f64::from(unfused), 0.01);
        assert_approx_eq!(per_element(exercise.minimum_bytes(shape)), f64::from(fused), 0.01);
    }
}

#[test]
fn a_matrix_that_is_turned_over_and_scaled_passes_and_nothing_else_does() {
    let exercise = find("transpose_scale").unwrap();
    let shape = Shape::of(4096, 4096);
    assert_eq!((exercise.unfused_bytes(shape), exercise.minimum_bytes(shape)), (16 << 24, 8 << 24));
    for seed in SEEDS {
        for case in cases(exercise, seed).filter(|case| case.shape.rows > 1 && case.shape.columns > 1) {
            let Shape { rows, columns, .. } = case.shape;
            let (x, s) = (case.f32s(0), case.scalar(0) as f32);
            let of = |element: fn(usize, usize, Shape) -> usize| -> Vec<f32> {
                let places = (0..columns).flat_map(|j| (0..rows).map(move |i| (i, j)));
                places.map(|(i, j)| s * x[element(i, j, case.shape)]).collect()
            };
            let right = of(|i, j, shape| i * shape.columns + j);
            let half: Vec<f32> = right.iter().map(|&value| f16::from_f32(value).to_f32()).collect();
            let unscaled: Vec<f32> = right.iter().map(|value| value / s).collect();
            assert_eq!(check(exercise, &case, right), Ok(()), "{}", case.shape);
            for wrong in [half, unscaled, of(|i, j, shape| j * shape.rows + i), vec![0.0; rows * columns]] {
                // Of two rows of two, a wrong order may be right by chance.
                assert!(check(exercise, &case, wrong).is_err() || rows * columns < 9, "{}", case.shape);
            }
        }
    }
}

/// The loss of each row in f32, of a row and the column of its label.
fn losses(case: &Case, loss: impl Fn(&[f32], usize) -> f32) -> Vec<f32> {
    let rows = case.f32s(0).chunks_exact(case.shape.columns).zip(case.f64s(1));
    rows.map(|(row, label)| if label < 0.0 { 0.0 } else { loss(row, label as usize) }).collect()
}

/// Some threads' pairs of a maximum and a sum, each corrected element by element, and then joined.
fn online(row: &[f32], threads: usize) -> (f32, f32) {
    let join = |(top, sum): (f32, f32), (other, its): (f32, f32)| {
        let larger = f32::max(top, other);
        (larger, sum * (top - larger).exp() + its * (other - larger).exp())
    };
    let own = |thread| row.iter().skip(thread).step_by(threads).fold((f32::MIN, 0.0), |pair, &x| join(pair, (x, 1.0)));
    (0..threads).map(own).fold((f32::MIN, 0.0), join)
}

fn two_walks(row: &[f32], order: Order) -> (f32, f32) {
    let top = largest(row);
    (top, sum(&row.iter().map(|x| (x - top).exp()).collect::<Vec<_>>(), order))
}

#[test]
fn a_loss_passes_in_any_form() {
    let exercise = find("cross_entropy").unwrap();
    let long = [case(exercise, Shape::of(5, 128_256), 1), case(exercise, Shape::of(5, 32_000), 2)];
    for case in SEEDS.flat_map(|seed| cases(exercise, seed)).chain(long) {
        type Form = fn(&[f32], usize) -> f32;
        let forms: [(&str, Form); 5] = [
            ("two walks, one by one", |row, label| {
                let (top, sum) = two_walks(row, Order::OneByOne);
                sum.ln() + (top - row[label])
            }),
            ("two walks, by threads", |row, label| {
                let (top, sum) = two_walks(row, Order::ByThreads);
                (sum.ln() + top) - row[label]
            }),
            ("online, one thread", |row, label| {
                let (top, sum) = online(row, 1);
                sum.ln() + top - row[label]
            }),
            ("online, 32 threads", |row, label| {
                let (top, sum) = online(row, 32);
                sum.ln() + (top - row[label])
            }),
            ("online, 1024 threads", |row, label| {
                let (top, sum) = online(row, 1024);
                sum.ln() - (row[label] - top)
            }),
        ];
        for (form, loss) in forms {
            assert_eq!(check(exercise, &case, losses(&case, loss)), Ok(()), "{form} at {}", case.shape);
        }
    }
}

#[test]
fn a_wrong_loss_fails_at_some_shape_of_every_run() {
    type Loss = fn(&[f32], usize) -> f32;
    let mistakes: [(&str, Loss); 8] = [
        ("zero", |_, _| 0.0),
        ("the maximum not subtracted", |row, label| row.iter().map(|x| x.exp()).sum::<f32>().ln() - row[label]),
        ("the maximum at least 0", |row, label| {
            let top = largest(row).max(0.0);
            row.iter().map(|x| (x - top).exp()).sum::<f32>().ln() + top - row[label]
        }),
        ("the last element left out", |row, label| {
            let (top, sum) = two_walks(&row[..row.len() - 1], Order::ByThreads);
            sum.ln() + (top - row[label])
        }),
        ("the column before", |row, label| {
            let (top, sum) = two_walks(row, Order::ByThreads);
            sum.ln() + (top - row[label.saturating_sub(1)])
        }),
        ("the sum not corrected", |row, label| {
            let mut top = f32::MIN;
            let sum: f32 = row
                .iter()
                .map(|&x| {
                    top = top.max(x);
                    (x - top).exp()
                })
                .sum();
            sum.ln() + (top - row[label])
        }),
        ("a result in f16", |row, label| {
            let (top, sum) = two_walks(row, Order::ByThreads);
            f16::from_f32(sum.ln() + (top - row[label])).to_f32()
        }),
        ("a sum in f16", |row, label| {
            let (top, sum) = two_walks(row, Order::ByThreads);
            f16::from_f32(sum).to_f32().ln() + (top - row[label])
        }),
    ];
    let exercise = find("cross_entropy").unwrap();
    for seed in 0..16 {
        for (mistake, loss) in mistakes {
            let mut judged = cases(exercise, seed).filter(|case| case.shape.columns > 1);
            let refused = judged.any(|case| check(exercise, &case, losses(&case, loss)).is_err());
            assert!(refused, "{mistake} passes with seed {seed}");
        }
        // One element of many is missed where it counts more than all others.
        let (_, last_left_out) = mistakes[3];
        for columns in [5003, 32_000, 128_256] {
            let case = case(exercise, Shape::of(24, columns), seed);
            assert!(check(exercise, &case, losses(&case, last_left_out)).is_err(), "{columns} columns, seed {seed}");
        }
    }
}

/// A label is a column or -100, also where there are no columns. Where times are taken, every row is read.
#[test]
fn labels_are_columns_or_none() {
    let exercise = find("cross_entropy").unwrap();
    let (mut first, mut last, mut ignored, mut none) = (0, 0, 0, 0);
    for seed in 0..16 {
        let large = exercise.large(1 << 20);
        for shape in exercise.shapes.all(seed).into_iter().chain(large.clone()) {
            let (case, columns) = (case(exercise, shape, seed), shape.columns as f64);
            let labels = case.f64s(1);
            assert_eq!(labels.len(), shape.rows);
            assert!(labels.iter().all(|&label| label == -100.0 || (0.0..columns).contains(&label)), "{shape}");
            let of = |wanted: f64| labels.iter().filter(|label| **label == wanted).count();
            (first, last, ignored) = (first + of(0.0), last + of(columns - 1.0), ignored + of(-100.0));
            none += usize::from(shape.rows > 2 && shape.columns > 0 && of(-100.0) == shape.rows);
            assert!(!large.contains(&shape) || of(-100.0) == 0, "{shape}");
        }
    }
    assert!(first > 100 && last > 100 && ignored > 100 && none > 10, "{first} {last} {ignored} {none}");
}

/// Each element of a large problem is one of a period's, of the same column of x, and of a row that is as far into its period.
#[test]
fn periods_of_a_matrix_are_beside_each_other_in_its_transpose() {
    let out = &find("transpose_scale").unwrap().outputs[0];
    let (period, shape) = (Shape::of(3, 4), Shape::of(8, 4));
    let found: Vec<usize> = (0..10).map(|element| out.within(period, shape, element)).collect();
    assert_eq!(found, [0, 1, 2, 0, 1, 2, 0, 1, 3, 4]);
    assert_eq!(out.place(shape, 17), (1, 2));
}

#[test]
fn f32_passes_in_any_order_of_summation() {
    for exercise in NAMES.map(|name| find(name).unwrap()) {
        for seed in SEEDS {
            for case in cases(exercise, seed) {
                for order in [Order::OneByOne, Order::ByThreads] {
                    let verdict = check(exercise, &case, by_row(&case, order, operation(exercise.name)));
                    assert_eq!(verdict, Ok(()), "{} {order:?} at {}, seed {seed}", exercise.name, case.shape);
                }
            }
        }
    }
}

#[test]
fn long_rows_pass() {
    for exercise in NAMES.map(|name| find(name).unwrap()) {
        let case = case(exercise, Shape::of(24, 16384), 1);
        for order in [Order::OneByOne, Order::ByThreads] {
            let verdict = check(exercise, &case, by_row(&case, order, operation(exercise.name)));
            assert_eq!(verdict, Ok(()), "{} {order:?}", exercise.name);
        }
    }
}

/// The inputs rounded to f16 and the results, too: whatever is done in between cannot be better.
fn through_f16(case: &Case, operation: RowOperation) -> Vec<f32> {
    let rounded = |data: &Data| Data::F32(data.f32s().iter().map(|&x| f16::from_f32(x).to_f32()).collect());
    let inputs = case.inputs.iter().map(rounded).collect();
    let output = by_row(&Case::new(case.shape, inputs), Order::ByThreads, operation);
    output.into_iter().map(|x| f16::from_f32(x).to_f32()).collect()
}

/// A few rows may happen to be such that half precision is exact: a softmax of equal elements, of which there are 1024.
#[test]
fn zeros_and_half_precision_fail_from_33_rows_of_31_columns_on() {
    for exercise in NAMES.map(|name| find(name).unwrap()) {
        for seed in SEEDS {
            for case in cases(exercise, seed).filter(|case| case.shape.columns >= 31 && case.shape.rows >= 33) {
                let at = format!("{} at {}, seed {seed}", exercise.name, case.shape);
                let zeros = check(exercise, &case, vec![0.0; case.shape.elements()]);
                assert!(zeros.is_err_and(|wrong| wrong.count * 8 > case.shape.elements()), "zeros: {at}");
                let half = check(exercise, &case, through_f16(&case, operation(exercise.name)));
                assert!(half.is_err_and(|wrong| wrong.count * 8 > case.shape.elements()), "half precision: {at}");
            }
        }
    }
}

/// Mistakes that leave most rows as good as right.
const MISTAKES: [(&str, &str, RowOperation); 13] = [
    ("l2norm", "no epsilon", |row, _, order| {
        let length = sum(&row.iter().map(|x| x * x).collect::<Vec<_>>(), order).sqrt();
        row.iter().map(|x| x / length).collect()
    }),
    ("l2norm", "the larger of length and epsilon", |row, _, order| {
        let length = sum(&row.iter().map(|x| x * x).collect::<Vec<_>>(), order).sqrt().max(1e-12);
        row.iter().map(|x| x / length).collect()
    }),
    ("l2norm", "epsilon ten times as large", |row, _, order| {
        let length = sum(&row.iter().map(|x| x * x).collect::<Vec<_>>(), order).sqrt() + 1e-11;
        row.iter().map(|x| x / length).collect()
    }),
    ("l2norm", "the last element left out of the sum", |row, parameters, order| {
        let scale = l2norm(&row[..row.len() - 1], parameters, order).first().map_or(0.0, |y| y / row[0]);
        row.iter().map(|x| x * scale).collect()
    }),
    ("softmax", "the maximum not subtracted", |row, _, order| {
        let terms: Vec<f32> = row.iter().map(|x| x.exp()).collect();
        let sum = sum(&terms, order);
        terms.iter().map(|term| term / sum).collect()
    }),
    ("softmax", "the maximum at least 0", |row, _, order| {
        let top = largest(row).max(0.0);
        let terms: Vec<f32> = row.iter().map(|x| (x - top).exp()).collect();
        let sum = sum(&terms, order);
        terms.iter().map(|term| term / sum).collect()
    }),
    ("softmax", "the last element left out of the sum", |row, _, order| {
        let top = largest(row);
        let terms: Vec<f32> = row.iter().map(|x| (x - top).exp()).collect();
        let sum = sum(&terms[..terms.len() - 1], order);
        terms.iter().map(|term| term / sum).collect()
    }),
    ("layernorm_bias_gelu", "the variance of a sample", |row, parameters, order| {
        let (mean, variance) = mean_and_variance(row, order);
        let (all, others) = (row.len() as f32, row.len() as f32 - 1.0);
        normalised(row, parameters, mean, 1.0 / (variance * all / others + 1e-5).sqrt())
    }),
    ("layernorm_bias_gelu", "the variance in one pass", |row, parameters, order| {
        let (mean, _) = mean_and_variance(row, order);
        let squares = sum(&row.iter().map(|x| x * x).collect::<Vec<_>>(), order) / row.len() as f32;
        normalised(row, parameters, mean, 1.0 / (squares - mean * mean + 1e-5).sqrt())
    }),
    ("layernorm_bias_gelu", "no epsilon", |row, parameters, order| {
        let (mean, variance) = mean_and_variance(row, order);
        normalised(row, parameters, mean, 1.0 / variance.sqrt())
    }),
    ("layernorm_bias_gelu", "epsilon outside of the root", |row, parameters, order| {
        let (mean, variance) = mean_and_variance(row, order);
        normalised(row, parameters, mean, 1.0 / (variance.sqrt() + 1e-5))
    }),
    ("layernorm_bias_gelu", "epsilon a tenth", |row, parameters, order| {
        let (mean, variance) = mean_and_variance(row, order);
        normalised(row, parameters, mean, 1.0 / (variance + 1e-6).sqrt())
    }),
    ("layernorm_bias_gelu", "beta forgotten", |row, parameters, order| {
        let zeros = vec![0.0; row.len()];
        layernorm_bias_gelu(row, &[parameters[0], &zeros, parameters[2]], order)
    }),
];

#[test]
fn every_mistake_fails_at_some_shape_of_every_run() {
    for seed in 0..16 {
        for (name, mistake, operation) in MISTAKES {
            let exercise = find(name).unwrap();
            let refused = cases(exercise, seed)
                .any(|case| check(exercise, &case, by_row(&case, Order::ByThreads, operation)).is_err());
            assert!(refused, "{name}: {mistake} passes with seed {seed}");
        }
    }
}

/// A mistake that only rows of one length show must show there: one that leaves the last element of a long row out.
#[test]
fn an_element_of_a_long_row_is_missed() {
    for (name, mistake, operation) in MISTAKES.iter().filter(|(_, mistake, _)| mistake.contains("the last element")) {
        let exercise = find(name).unwrap();
        for seed in 0..16 {
            let case = case(exercise, Shape::of(33, 5003), seed);
            let verdict = check(exercise, &case, by_row(&case, Order::ByThreads, *operation));
            assert!(verdict.is_err(), "{name}: {mistake} passes with seed {seed}");
        }
    }
}
