//! The specifications of Day 26: bytes as the course states them, tolerances that admit f16 with sums in f32 and nothing
//! coarser, and inputs on which the usual mistakes show.
#![allow(clippy::unwrap_used)]

use fusion_course::{Case, Data, Exercise, Inputs, Mismatch, Shape, find};
use half::f16;

const SEEDS: std::ops::Range<u64> = 0..4;

fn shapes(exercise: &Exercise, seed: u64) -> Vec<Shape> {
    exercise
        .problems(seed)
        .into_iter()
        .filter(|shape| (1..3_000_000).contains(&(shape.elements() * shape.columns)))
        .collect()
}

fn case(exercise: &Exercise, shape: Shape, seed: u64) -> Case {
    (exercise.make)(shape, &mut Inputs::new(seed))
}

fn check(exercise: &Exercise, case: &Case, output: Vec<f32>) -> Result<(), Mismatch> {
    let output = Data::F16(output.into_iter().map(f16::from_f32).collect());
    (exercise.reference)(case)[0].check(&output, exercise.tolerances[0])
}

fn floats(case: &Case, input: usize) -> Vec<f32> {
    case.f64s(input).into_iter().map(|x| x as f32).collect()
}

fn rounded(x: f32) -> f32 {
    f16::from_f32(x).to_f32()
}

fn gelu(t: f32) -> f32 {
    0.5 * t * (1.0 + (0.797_884_6 * (t + 0.044715 * t * t * t)).tanh())
}

/// What a kernel for one row of RMSNorm does: from x and the weight to the result.
type Norm = fn(&[f32], &[f32]) -> Vec<f32>;

fn rmsnorm(x: &[f32], weight: &[f32]) -> Vec<f32> {
    let mean = x.iter().map(|x| x * x).sum::<f32>() / x.len() as f32;
    let factor = 1.0 / (mean + 1e-6).sqrt();
    x.iter().zip(weight).map(|(x, w)| x * factor * w).collect()
}

fn by_row(case: &Case, norm: Norm) -> Vec<f32> {
    let (x, weight) = (floats(case, 0), floats(case, 1));
    x.chunks(case.shape.columns).flat_map(|row| norm(row, &weight)).collect()
}

#[test]
fn bytes_are_those_of_the_course() {
    let rmsnorm = find("rmsnorm_short_rows").unwrap();
    for &columns in &[64, 1024] {
        let shape = Shape::of(1000, columns);
        let n = shape.elements() as u64;
        // 18 an element; the means are written and read, and the weight is read.
        assert_eq!(rmsnorm.unfused_bytes(shape), 18 * n + 2 * 4 * 1000 + 2 * columns as u64);
        assert_eq!(rmsnorm.minimum_bytes(shape), 4 * n + 2 * columns as u64);
    }
    let wide = find("layernorm_wide_rows").unwrap();
    for &columns in &[1 << 14, 1 << 17] {
        let shape = Shape::of(100, columns);
        let n = shape.elements() as u64;
        // Means and variances are written and read; gamma and beta are read.
        assert_eq!(wide.unfused_bytes(shape), 24 * n + 4 * 4 * 100 + 2 * 4 * columns as u64);
        assert_eq!(wide.minimum_bytes(shape), 8 * n + 2 * 4 * columns as u64);
    }
    let ffn = find("ffn_sublayer").unwrap();
    let shape = Shape::of(1000, 1024);
    let (n, w, vector) = (shape.elements() as u64, 2 * 1024 * 1024, 2 * 1024);
    assert_eq!(ffn.unfused_bytes(shape), 22 * n + w + 3 * vector);
    assert_eq!(ffn.minimum_bytes(shape), 14 * n + w + 3 * vector);
}

#[test]
fn sums_in_f32_and_one_rounding_pass() {
    let exercise = find("rmsnorm_short_rows").unwrap();
    let backwards: Norm = |x, weight| {
        let mean = x.iter().rev().map(|x| x * x).sum::<f32>() * (1.0 / x.len() as f32);
        x.iter().zip(weight).map(|(x, w)| x * w * (mean + 1e-6).sqrt().recip()).collect()
    };
    for seed in SEEDS {
        for shape in shapes(exercise, seed) {
            let case = case(exercise, shape, seed);
            for norm in [rmsnorm as Norm, backwards] {
                assert_eq!(check(exercise, &case, by_row(&case, norm)), Ok(()), "{shape}, seed {seed}");
            }
        }
    }
}

#[test]
fn mistakes_in_a_norm_fail_in_every_run() {
    let exercise = find("rmsnorm_short_rows").unwrap();
    let wrong: [(&str, Norm); 6] = [
        ("zeros", |x, _| vec![0.0; x.len()]),
        ("half precision", |x, weight| {
            let squares = x.iter().fold(f16::ZERO, |sum, x| sum + f16::from_f32(*x) * f16::from_f32(*x));
            let factor = 1.0 / (squares.to_f32() / x.len() as f32 + 1e-6).sqrt();
            x.iter().zip(weight).map(|(x, w)| x * factor * w).collect()
        }),
        ("rounded twice", |x, weight| {
            let ones = vec![1.0; x.len()];
            rmsnorm(x, &ones).into_iter().zip(weight).map(|(x, w)| rounded(x) * w).collect()
        }),
        ("no epsilon", |x, weight| {
            let mean = x.iter().map(|x| x * x).sum::<f32>() / x.len() as f32;
            x.iter().zip(weight).map(|(x, w)| x / mean.sqrt() * w).collect()
        }),
        ("epsilon outside of the root", |x, weight| {
            let mean = x.iter().map(|x| x * x).sum::<f32>() / x.len() as f32;
            x.iter().zip(weight).map(|(x, w)| x / (mean.sqrt() + 1e-6) * w).collect()
        }),
        ("no weight", |x, _| rmsnorm(x, &vec![1.0; x.len()])),
    ];
    for seed in SEEDS {
        let cases: Vec<Case> = shapes(exercise, seed).into_iter().map(|shape| case(exercise, shape, seed)).collect();
        for (name, norm) in wrong {
            let refused = cases.iter().any(|case| check(exercise, case, by_row(case, norm)).is_err());
            assert!(refused, "{name} passes with seed {seed}");
        }
    }
}

/// A layernorm's mean and variance of a row: of its elements, by so many threads.
type Statistics = fn(&[f32], usize) -> (f32, f32);

/// A sum as so many threads make it: each its share, and then theirs, two by two.
fn sum_by(terms: &[f32], threads: usize) -> f32 {
    let mut sums: Vec<f32> = (0..threads).map(|thread| terms.iter().skip(thread).step_by(threads).sum()).collect();
    while sums.len() > 1 {
        sums = sums.chunks(2).map(|pair| pair.iter().sum()).collect();
    }
    sums[0]
}

fn two_walks(row: &[f32], threads: usize) -> (f32, f32) {
    let mean = sum_by(row, threads) / row.len() as f32;
    let squares: Vec<f32> = row.iter().map(|x| (x - mean) * (x - mean)).collect();
    (mean, sum_by(&squares, threads) / row.len() as f32)
}

/// Each of eight blocks has the squares of its part about the part's mean; then these are made squares about the row's.
fn by_parts(row: &[f32], threads: usize) -> (f32, f32) {
    let parts: Vec<_> =
        row.chunks(row.len().div_ceil(8)).map(|part| (two_walks(part, threads), part.len() as f32)).collect();
    let columns = row.len() as f32;
    let mean = parts.iter().map(|((mean, _), length)| mean * length).sum::<f32>() / columns;
    let square = |((own, variance), length): &((f32, f32), f32)| (variance + (own - mean) * (own - mean)) * length;
    (mean, parts.iter().map(square).sum::<f32>() / columns)
}

fn wide(case: &Case, statistics: Statistics, threads: usize, epsilon: f32) -> Vec<f32> {
    let mut out = Vec::with_capacity(case.shape.elements());
    for row in case.f32s(0).chunks_exact(case.shape.columns) {
        let (mean, variance) = statistics(row, threads);
        let factor = 1.0 / (variance + epsilon).sqrt();
        let columns = row.iter().zip(case.f32s(1)).zip(case.f32s(2));
        out.extend(columns.map(|((x, gamma), beta)| (x - mean) * factor * gamma + beta));
    }
    out
}

/// The shapes of a run, and a row of each length that is timed.
fn wide_cases(exercise: &Exercise, seed: u64) -> Vec<Case> {
    let mut shapes = exercise.problems(seed);
    shapes.retain(|shape| (1..140_000).contains(&shape.elements()) && shape.rows < 300);
    shapes.extend(exercise.large(1));
    shapes.into_iter().map(|shape| case(exercise, shape, seed)).collect()
}

fn check_wide(exercise: &Exercise, case: &Case, output: Vec<f32>) -> Result<(), Mismatch> {
    (exercise.reference)(case)[0].check(&Data::F32(output), exercise.tolerances[0])
}

#[test]
fn long_rows_may_be_added_up_by_32_threads_or_more_and_by_parts() {
    let exercise = find("layernorm_wide_rows").unwrap();
    for seed in SEEDS {
        for case in wide_cases(exercise, seed) {
            for (statistics, threads) in [(two_walks as Statistics, 32), (two_walks, 1024), (by_parts, 512)] {
                let output = wide(&case, statistics, threads, 1e-5);
                assert_eq!(
                    check_wide(exercise, &case, output),
                    Ok(()),
                    "{}, {threads} threads, seed {seed}",
                    case.shape
                );
            }
        }
    }
}

#[test]
fn mistakes_in_long_rows_fail_in_every_run() {
    let exercise = find("layernorm_wide_rows").unwrap();
    let one_walk: Statistics = |row, threads| {
        let mean = sum_by(row, threads) / row.len() as f32;
        let squares: Vec<f32> = row.iter().map(|x| x * x).collect();
        (mean, (sum_by(&squares, threads) / row.len() as f32 - mean * mean).max(0.0))
    };
    let first_part: Statistics = |row, threads| two_walks(&row[..row.len().div_ceil(8)], threads);
    let about_own: Statistics = |row, threads| {
        let parts: Vec<_> = row.chunks(row.len().div_ceil(8)).map(|part| two_walks(part, threads)).collect();
        let (mean, _) = by_parts(row, threads);
        (mean, parts.iter().map(|(_, variance)| variance).sum::<f32>() / parts.len() as f32)
    };
    let half: Statistics = |row, threads| {
        let row: Vec<f32> = row.iter().copied().map(rounded).collect();
        two_walks(&row, threads)
    };
    let wrong = [
        ("one walk", one_walk, 1e-5),
        ("the first part's", first_part, 1e-5),
        ("half precision", half, 1e-5),
        ("squares about the parts' means", about_own, 1e-5),
        ("no epsilon", two_walks as Statistics, 0.0),
    ];
    for seed in SEEDS {
        let cases = wide_cases(exercise, seed);
        for (name, statistics, epsilon) in wrong {
            let refused =
                cases.iter().any(|case| check_wide(exercise, case, wide(case, statistics, 256, epsilon)).is_err());
            assert!(refused, "{name} passes with seed {seed}");
        }
        // A single row may lie so far from zero that its mean has no more digits than f16.
        for case in &cases {
            let zeros = vec![0.0; case.shape.elements()];
            assert!(check_wide(exercise, case, zeros).is_err(), "{}", case.shape);
            let rounds = wide(case, two_walks, 256, 1e-5).into_iter().map(rounded).collect();
            assert!(case.shape.rows <= 3 || check_wide(exercise, case, rounds).is_err(), "{}", case.shape);
        }
    }
}

/// How a feed-forward sublayer may be computed.
#[derive(Clone, Copy)]
struct Sublayer {
    /// Rounds what is kept between launches, and sums of products after each term.
    keep: fn(f32) -> f32,
    sum: fn(f32) -> f32,
    divisor_less: f32,
    residual: f32,
    activation: fn(f32) -> f32,
}

const RIGHT: Sublayer = Sublayer { keep: |x| x, sum: |x| x, divisor_less: 0.0, residual: 1.0, activation: gelu };

fn sublayer(case: &Case, how: Sublayer) -> Vec<f32> {
    let d = case.shape.columns;
    let [x, gamma, beta, w, bias] = [0, 1, 2, 3, 4].map(|input| floats(case, input));
    let mut out = Vec::with_capacity(x.len());
    for row in x.chunks(d) {
        let mean = row.iter().sum::<f32>() / d as f32;
        let squares = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>();
        let factor = 1.0 / (squares / (d as f32 - how.divisor_less) + 1e-5).sqrt();
        let mut product = vec![0.0_f32; d];
        for (k, x) in row.iter().enumerate() {
            let normed = (how.keep)((x - mean) * factor * gamma[k] + beta[k]);
            for (sum, w) in product.iter_mut().zip(&w[k * d..]) {
                *sum = (how.sum)(*sum + normed * w);
            }
        }
        let results = product.into_iter().zip(row).zip(&bias);
        out.extend(results.map(|((p, x), b)| how.residual * x + (how.activation)((how.keep)(p) + b)));
    }
    out
}

#[test]
fn a_sublayer_may_round_between_its_launches_or_not() {
    let exercise = find("ffn_sublayer").unwrap();
    for seed in SEEDS {
        for shape in shapes(exercise, seed) {
            let case = case(exercise, shape, seed);
            for keep in [(|x| x) as fn(f32) -> f32, rounded] {
                let output = sublayer(&case, Sublayer { keep, ..RIGHT });
                assert_eq!(check(exercise, &case, output), Ok(()), "{shape}, seed {seed}");
            }
        }
    }
}

/// At the length that is timed, too, where sums are longest.
#[test]
fn a_long_sum_in_f32_passes_and_one_in_half_precision_does_not() {
    let exercise = find("ffn_sublayer").unwrap();
    let case = case(exercise, Shape::of(8, 1024), 1);
    assert_eq!(check(exercise, &case, sublayer(&case, Sublayer { keep: rounded, ..RIGHT })), Ok(()));
    assert!(check(exercise, &case, sublayer(&case, Sublayer { sum: rounded, ..RIGHT })).is_err());
}

#[test]
fn mistakes_in_a_sublayer_fail_in_every_run() {
    let exercise = find("ffn_sublayer").unwrap();
    let wrong = [
        ("sums in half precision", Sublayer { sum: rounded, ..RIGHT }),
        ("the sample's variance", Sublayer { divisor_less: 1.0, ..RIGHT }),
        ("no residual", Sublayer { residual: 0.0, ..RIGHT }),
        ("ReLU", Sublayer { activation: |t| t.max(0.0), ..RIGHT }),
        ("no activation", Sublayer { activation: |t| t, ..RIGHT }),
    ];
    for seed in SEEDS {
        let cases: Vec<Case> = shapes(exercise, seed)
            .into_iter()
            .filter(|shape| shape.elements() > 30)
            .map(|shape| case(exercise, shape, seed))
            .collect();
        for (name, how) in wrong {
            let refused = cases.iter().any(|case| check(exercise, case, sublayer(case, how)).is_err());
            assert!(refused, "{name} passes with seed {seed}");
        }
    }
}

/// What a kernel for one element of AdamW does: from p, g, m, v and the scalars to the new p, m and v.
type Adamw = fn([f32; 4], &[f32]) -> [f32; 3];

fn adamw([p, g, m, v]: [f32; 4], scalars: &[f32]) -> [f32; 3] {
    let &[lr, beta1, beta2, epsilon, weight_decay, correction1, correction2] = scalars else { panic!("seven scalars") };
    let m = beta1 * m + (1.0 - beta1) * g;
    let v = beta2 * v + (1.0 - beta2) * g * g;
    let denominator = (v / correction2).sqrt() + epsilon;
    [p * (1.0 - lr * weight_decay) - lr / correction1 * m / denominator, m, v]
}

/// The same by differences from the old moments, and with hats as in the paper.
fn adamw_by_differences([p, g, m, v]: [f32; 4], scalars: &[f32]) -> [f32; 3] {
    let &[lr, beta1, beta2, epsilon, weight_decay, correction1, correction2] = scalars else { panic!("seven scalars") };
    let m = m + (1.0 - beta1) * (g - m);
    let v = v + (1.0 - beta2) * (g * g - v);
    let (m_hat, v_hat) = (m / correction1, v / correction2);
    [p - lr * weight_decay * p - lr * (m_hat / (v_hat.sqrt() + epsilon)), m, v]
}

/// The outputs of a kernel, each compared.
fn updated(case: &Case, kernel: Adamw) -> [Result<(), Mismatch>; 3] {
    let exercise = find("adamw_multi").unwrap();
    let scalars: Vec<f32> = (0..7).map(|index| case.scalar(index) as f32).collect();
    let before = |output: usize| case.initial[output].as_ref().unwrap().f32s();
    let (p, g, m, v) = (before(0), case.f32s(2), before(1), before(2));
    let new: Vec<[f32; 3]> = (0..case.shape.elements()).map(|i| kernel([p[i], g[i], m[i], v[i]], &scalars)).collect();
    let references = (exercise.reference)(case);
    std::array::from_fn(|output| {
        let actual = Data::F32(new.iter().map(|new| new[output]).collect());
        references[output].check(&actual, exercise.tolerances[output])
    })
}

#[test]
fn adamw_moves_80_bytes_per_element_or_28() {
    let exercise = find("adamw_multi").unwrap();
    let shape = Shape::of(200, 10_007);
    let n = shape.elements() as u64;
    assert_eq!(exercise.unfused_bytes(shape), 80 * n);
    let chunks: usize = shape.tensors().map(|tensor| tensor.len().div_ceil(4096)).sum();
    assert_eq!(exercise.minimum_bytes(shape), 28 * n + 5 * 8 * 200 + 8 * chunks as u64);
}

#[test]
fn tables_lead_to_every_element_once() {
    let exercise = find("adamw_multi").unwrap();
    let address = |name: &str| ["p", "g", "m", "v"].iter().position(|known| *known == name).unwrap() as u64 * (1 << 40);
    for shape in exercise.problems(1) {
        let tables = exercise.tables(shape, address);
        let [(0, Data::U64(tensors)), (1, Data::I32(chunks))] = &tables[..] else { panic!("two tables: {tables:?}") };
        assert_eq!((tensors.len(), chunks.len()), (exercise.inputs[0].len(shape), exercise.inputs[1].len(shape)));
        let mut next = 0;
        for chunk in chunks.chunks_exact(2) {
            let entry = &tensors[5 * chunk[0] as usize..][..5];
            let begin = 4096 * chunk[1] as u64;
            assert!(begin < entry[4], "{shape}: a chunk without elements");
            assert!((0..4).all(|buffer| entry[buffer] == buffer as u64 * (1 << 40) + entry[0]), "{shape}");
            assert_eq!(entry[0] / 4 + begin, next, "{shape}");
            next += (entry[4] - begin).min(4096);
        }
        assert_eq!(next, shape.elements() as u64, "{shape}");
    }
}

#[test]
fn adamw_in_f32_passes_in_either_form() {
    let exercise = find("adamw_multi").unwrap();
    for seed in SEEDS {
        for shape in exercise.problems(seed) {
            let case = case(exercise, shape, seed);
            for kernel in [adamw as Adamw, adamw_by_differences] {
                assert_eq!(updated(&case, kernel), [const { Ok(()) }; 3], "{shape}, seed {seed}");
            }
        }
    }
}

#[test]
fn mistakes_in_adamw_fail_in_every_run() {
    let exercise = find("adamw_multi").unwrap();
    /// The same with other scalars: lr, beta1, beta2, epsilon, weight_decay, correction1, correction2.
    fn with(element: [f32; 4], scalars: &[f32], change: impl Fn(&mut [f32])) -> [f32; 3] {
        let mut scalars = scalars.to_vec();
        change(&mut scalars);
        adamw(element, &scalars)
    }
    let wrong: [(&str, Adamw); 12] = [
        ("zeros", |_, _| [0.0; 3]),
        ("nothing done", |[p, _, m, v], _| [p, m, v]),
        ("half precision", |element, scalars| adamw(element, scalars).map(rounded)),
        ("a step in half precision", |element, scalars| {
            let [p, m, v] = adamw(element, scalars);
            let kept = element[0] * (1.0 - scalars[0] * scalars[4]);
            [kept - rounded(kept - p), m, v]
        }),
        ("the decay in the gradient", |[p, g, m, v], scalars| {
            with([p, g + scalars[4] * p, m, v], scalars, |scalars| scalars[4] = 0.0)
        }),
        ("no decay", |element, scalars| with(element, scalars, |scalars| scalars[4] = 0.0)),
        ("m not corrected", |element, scalars| with(element, scalars, |scalars| scalars[5] = 1.0)),
        ("v not corrected", |element, scalars| with(element, scalars, |scalars| scalars[6] = 1.0)),
        ("corrections swapped", |element, scalars| with(element, scalars, |scalars| scalars.swap(5, 6))),
        ("no epsilon", |element, scalars| with(element, scalars, |scalars| scalars[3] = 0.0)),
        ("epsilon in the root", |[p, g, m, v], scalars| {
            let [_, m_new, v_new] = adamw([p, g, m, v], scalars);
            let denominator = (v_new / scalars[6] + scalars[3]).sqrt();
            [p * (1.0 - scalars[0] * scalars[4]) - scalars[0] / scalars[5] * m_new / denominator, m_new, v_new]
        }),
        ("the old moments", |[p, g, m, v], scalars| {
            let [_, m_new, v_new] = adamw([p, g, m, v], scalars);
            let denominator = (v / scalars[6]).sqrt() + scalars[3];
            [p * (1.0 - scalars[0] * scalars[4]) - scalars[0] / scalars[5] * m / denominator, m_new, v_new]
        }),
    ];
    for seed in SEEDS {
        let large = |shape: &Shape| shape.elements() > 1000;
        let cases: Vec<Case> =
            exercise.problems(seed).into_iter().filter(large).map(|shape| case(exercise, shape, seed)).collect();
        for (name, kernel) in wrong {
            let refused = cases.iter().filter(|case| updated(case, kernel).iter().any(Result::is_err)).count();
            // Not only now and then: each is judged at one case of each shape.
            assert!(
                refused >= cases.len() / 2,
                "{name} passes {} of {} with seed {seed}",
                cases.len() - refused,
                cases.len()
            );
        }
    }
}
