//! Attention on the host: what the exercises' outputs must hold, and what sums in f32 may be off by.

use std::borrow::Cow;

use crate::rounding::UNIT;
use crate::{Case, DType, Data, Inputs, Reference, Shape};

/// An element of the keys that all of them have alike. A query that is large there has large scores with all keys.
const COMMON: f32 = 4.0;

/// Queries, keys and values. More than half of the queries have scores around 0, as large as those of a model. Of the
/// others some have scores up to some thousands of either sign, and some are zeros, whose result is the mean of the
/// values. With some all scores are large, and with some all are far below 0: what is not subtracted, or from which
/// number a maximum begins, shows there.
pub(crate) fn inputs(dtype: DType, shape: Shape, inputs: &mut Inputs) -> Vec<Data> {
    /// Times an element of the keys that is 4, over the root of the elements of a head, about 10^4.
    const LARGE: f32 = 2e4;
    let head = shape.head().max(1);
    let mut queries = inputs.moderate(shape.elements(), 2.0);
    for query in queries.chunks_mut(head) {
        match inputs.below(10) {
            0 => query.iter_mut().for_each(|value| *value *= 3000.0),
            1 => query.fill(0.0),
            2 => query[0] = LARGE,
            3 => query[0] = -LARGE,
            _ => query[0] = 0.0,
        }
    }
    let len = shape.key_rows() * shape.key_columns();
    let mut keys = inputs.moderate(len, 2.0);
    keys.chunks_mut(head).for_each(|key| key[0] = COMMON);
    let values = inputs.moderate(len, 4.0);
    [queries, keys, values].map(|values| Data::rounded(dtype, values)).into()
}

/// How rounding goes in a kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rounding {
    /// What a score may be off by, as a share of the product of its query's and its key's length.
    pub(crate) score: f64,
    /// What a weight may be off by, as a share of itself, each by chance.
    pub(crate) weight: f64,
    /// What a sum of so many terms may be off by, as a share of the sum of their magnitudes.
    pub(crate) sum: fn(usize) -> f64,
}

/// What is done otherwise in another operation than attention.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    /// What scores are multiplied by, of the elements of a head.
    pub(crate) scale: fn(f64) -> f64,
    /// How many keys count for the query at a place of its head, of so many.
    pub(crate) keys: fn(usize, usize) -> usize,
    /// The head of keys that a head of queries has, of so many heads of queries and of keys.
    pub(crate) keys_of: fn(usize, [usize; 2]) -> usize,
    /// Up to which key others have the score 0, after those that count. What the head does not have are zeros.
    pub(crate) zeros: fn(usize, usize) -> usize,
    /// What is subtracted from the scores before their exponentials are taken, of the largest of them.
    pub(crate) subtracted: fn(f64) -> f64,
    pub(crate) sums: Sums,
}

/// How results and weights are added up.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sums {
    Right,
    /// Relative to the largest score so far, with tiles of so many keys. Where a later tile has a larger one, the result so
    /// far is not corrected.
    ResultKept(usize),
    /// The same, where the sum so far is not corrected.
    SumKept(usize),
    /// The same, where neither is corrected.
    Kept(usize),
    /// For parts of so many keys, each relative to its own largest score.
    Parts(usize),
    /// The weights are not divided by their sum.
    Undivided,
}

impl Form {
    pub(crate) const ATTENTION: Self = Self {
        scale: |head| 1.0 / head.sqrt(),
        keys: |_, length| length,
        keys_of: |head, [heads, keys]| head * keys / heads.max(1),
        zeros: |_, _| 0,
        subtracted: |largest| largest,
        sums: Sums::Right,
    };
    /// A query sees the keys up to its own place.
    pub(crate) const CAUSAL: Self = Self { keys: |place, _| place + 1, ..Self::ATTENTION };

    /// Each key's weight in the result, and what all are divided by.
    fn weights(&self, scores: &[f64]) -> (Vec<f64>, f64) {
        let largest = |scores: &[f64]| scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let relative_to = |subtracted: f64| move |score: &f64| exponential(score - subtracted);
        // Tile by tile, relative to what `of` makes of the scores before the tile and of its own.
        let by_tile = |tile: usize, of: fn(f64, f64) -> f64| {
            let mut before = f64::NEG_INFINITY;
            let tiles = scores.chunks(tile.max(1)).flat_map(|scores| {
                before = of(before, largest(scores));
                scores.iter().map(relative_to(before))
            });
            tiles.collect::<Vec<f64>>()
        };
        let both = |weights: Vec<f64>| {
            let total = weights.iter().sum();
            (weights, total)
        };
        let (weights, total) = both(scores.iter().map(relative_to((self.subtracted)(largest(scores)))).collect());
        match self.sums {
            Sums::Right => (weights, total),
            Sums::ResultKept(tile) => (by_tile(tile, f64::max), total),
            Sums::SumKept(tile) => (weights, by_tile(tile, f64::max).iter().sum()),
            Sums::Kept(tile) => both(by_tile(tile, f64::max)),
            Sums::Parts(part) => both(by_tile(part, |_, own| own)),
            Sums::Undivided => (weights, 1.0),
        }
    }
}

/// e to the power of a number: infinite or 0 where an f32 would be.
fn exponential(power: f64) -> f64 {
    /// Half of the smallest f32.
    const NOTHING: f64 = 7e-46;
    match power.exp() {
        value if value > f64::from(f32::MAX) => f64::INFINITY,
        value if value < NOTHING => 0.0,
        value => value,
    }
}

/// What attention in a form is mistaken for, of a kernel that goes over tiles of so many keys, and more that is listed.
macro_rules! mistaken {
    ($close:path, $form:expr, $tile:literal, $($more:expr),* $(,)?) => {
        &[
            $crate::Mistaken {
                outputs: |case| $close(case, $crate::attention::Form { scale: |_| 1.0, ..$form }),
                what: "attention without the factor 1 / sqrt(d)",
                question: "Are the scores divided by the root of `head_dim`?",
            },
            $crate::Mistaken {
                outputs: |case| $close(case, $crate::attention::Form { scale: |head| 1.0 / head, ..$form }),
                what: "attention with scores divided by d",
                question: "Are the scores divided by the root of `head_dim`, and not by `head_dim`?",
            },
            $crate::Mistaken {
                outputs: |case| $close(case, $crate::attention::Form { scale: |head| std::f64::consts::LN_2 / head.sqrt(), ..$form }),
                what: "a softmax with powers of 2",
                question: "Are the scores multiplied by log2(e) before `exp2f` takes them?",
            },
            $crate::Mistaken {
                outputs: |case| $close(case, $crate::attention::Form { subtracted: |_| 0.0, ..$form }),
                what: "exponentials of the scores as they are",
                question: "Is the largest score subtracted from each score before the exponential? Without that, large scores overflow, \
                           and the weights of scores far below 0 vanish",
            },
            $crate::Mistaken {
                outputs: |case| $close(case, $crate::attention::Form { subtracted: |largest| largest.max(0.0), ..$form }),
                what: "a softmax whose largest score begins at 0",
                question: "Does the largest score begin at -infinity? From 0, all weights vanish where all scores are far below 0",
            },
            $crate::Mistaken {
                outputs: |case| $close(case, $crate::attention::Form { keys_of: |_, _| 0, ..$form }),
                what: "attention to the keys of the first head",
                question: "Do `k` and `v` begin at the head's own keys?",
            },
            $crate::Mistaken {
                outputs: |case| $close(case, $crate::attention::Form { sums: $crate::attention::Sums::ResultKept($tile), ..$form }),
                what: "an online softmax that does not correct the result",
                question: "Where a later tile has a larger score: is the result so far multiplied by exp(old largest - new largest)?",
            },
            $crate::Mistaken {
                outputs: |case| $close(case, $crate::attention::Form { sums: $crate::attention::Sums::SumKept($tile), ..$form }),
                what: "an online softmax that does not correct the sum of the weights",
                question: "Where a later tile has a larger score: is the sum so far multiplied by exp(old largest - new largest)?",
            },
            $crate::Mistaken {
                outputs: |case| $close(case, $crate::attention::Form { sums: $crate::attention::Sums::Kept($tile), ..$form }),
                what: "an online softmax that corrects neither the result nor the sum of the weights",
                question: "Where a later tile has a larger score: are both multiplied by exp(old largest - new largest)?",
            },
            $crate::Mistaken {
                outputs: |case| $close(case, $crate::attention::Form { sums: $crate::attention::Sums::Undivided, ..$form }),
                what: "attention whose weights are not divided by their sum",
                question: "Is each result divided by the sum of all its weights?",
            },
            $($more),*
        ]
    };
}
pub(crate) use mistaken;

/// Multiply-adds for scores up to which all results are computed. What a period of a large problem has without a mask is less.
const MOST_PRODUCTS: usize = 1 << 28;

/// Each element of softmax(q k^T scale) v, with what a kernel may be off by beside a share `relative` of the result.
///
/// Where that takes too long, it is for some of the queries, drawn by the values. The others' results must lie between the least and the
/// largest of the values that their keys have, of which they are a mean.
pub(crate) fn attention(case: &Case, form: Form, rounding: Rounding, relative: f64) -> Vec<Reference> {
    let (values, errors) = sums(case, form, (rounding, relative), MOST_PRODUCTS);
    let magnitudes = values.iter().zip(errors).map(|(value, error)| value.abs() + error / relative).collect();
    vec![Reference::Close { values, magnitudes: Some(magnitudes) }]
}

/// The results, and their errors.
///
/// With weights p, which add up to 1, the result is the sum of p v. A score that is off by e makes its weight wrong by
/// that share of itself, since the exponential does. As the weights are divided by their sum, what all are off by alike
/// cancels: the result is off by the sum of p e |v - result|. A score's own error is that of a sum in f32. Besides, it
/// is rounded, is multiplied by a factor or two, and has the largest score subtracted: that is off by some units of the
/// larger of both.
fn sums(case: &Case, form: Form, (rounding, relative): (Rounding, f64), most: usize) -> (Vec<f64>, Vec<f64>) {
    let shape = case.shape;
    let (head, length, queries) = (shape.head(), shape.terms(), shape.queries());
    let [heads, kv_heads] = shape.heads.unwrap_or_default();
    let [q, k, v] = [0, 1, 2].map(|input| case.f64s(input));
    let mut values = vec![0.0_f64; shape.elements()];
    let mut errors = vec![0.0_f64; values.len()];
    if values.is_empty() || kv_heads == 0 {
        return (values, errors);
    }
    let counted = |row: usize| (form.keys)(row % queries.max(1), length).min(length);
    let products: usize = (0..shape.rows).map(|row| counted(row) * head).sum();
    let (each, mut random) = (products.div_ceil(most).max(1), fastrand::Rng::with_seed(q[0].to_bits()));
    let mut range = Range::default();
    let scale = (form.scale)(head as f64);
    let lengths: Vec<f64> = k.chunks_exact(head).map(length_of).collect();
    let sum = (rounding.sum)(length);
    let out = values.chunks_exact_mut(head).zip(errors.chunks_exact_mut(head));
    for (row, (query, (result, error))) in q.chunks_exact(head).zip(out).enumerate() {
        let kv = (form.keys_of)(row / queries.max(1), [heads, kv_heads]);
        let [keys, of_head] = [&k, &v].map(|all| &all[kv * length * head..][..counted(row) * head]);
        if keys.is_empty() {
            // Nothing adds up to nothing, and is divided by it.
            result.fill(f64::NAN);
            continue;
        }
        if each > 1 && random.usize(0..each) > 0 {
            range.grow(kv, of_head, head);
            for (((result, error), low), high) in result.iter_mut().zip(error).zip(&range.low).zip(&range.high) {
                *result = (low + high) / 2.0;
                // Weights add up to 1, but for their roundings.
                *error = (high - low) / 2.0 + (rounding.weight + relative) * low.abs().max(high.abs());
            }
            continue;
        }
        let mut scores: Vec<f64> = keys.chunks_exact(head).map(|key| scale * product(query, key)).collect();
        let end = (form.zeros)(row % queries.max(1), length).max(scores.len());
        scores.resize(end, 0.0);
        let of_head = with_zeros(&v[kv * length * head..][..end.min(length) * head], end * head);
        let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (weights, total) = form.weights(&scores);
        // In f32 an exponential of a large score is infinite, and those of scores far below 0 are zeros: inf / inf, or 0 / 0.
        if !(total > 0.0 && total <= f64::from(f32::MAX)) {
            result.fill(f64::NAN);
            continue;
        }
        let mut magnitudes = vec![0.0_f64; head];
        let mut squares = vec![0.0_f64; head];
        let weighted = || weights.iter().map(|weight| weight / total).zip(of_head.chunks_exact(head)).enumerate();
        for (_, (weight, value)) in weighted().filter(|(_, (weight, _))| *weight > 0.0) {
            result.iter_mut().zip(value).for_each(|(sum, value)| *sum += weight * value);
            magnitudes.iter_mut().zip(value).for_each(|(sum, value)| *sum += weight * value.abs());
        }
        let of_query = rounding.score * scale * length_of(query);
        for (key, (weight, value)) in weighted().filter(|(_, (weight, _))| *weight > 0.0) {
            let of_key = if key < length { lengths[kv * length + key] } else { 0.0 };
            let of_score = of_query * of_key + 4.0 * UNIT * (scores[key].abs() + largest.abs() + 2.0);
            // Beyond 1 an error is no longer small, and the weight may be anything.
            let share = weight * of_score.exp_m1().min(1.0 / weight);
            for ((error, square), (value, result)) in error.iter_mut().zip(&mut squares).zip(value.iter().zip(&*result))
            {
                let apart = (value - result).abs();
                *error += share * apart;
                *square += (weight * rounding.weight * value.abs()).powi(2);
            }
        }
        for ((error, square), magnitude) in error.iter_mut().zip(&squares).zip(&magnitudes) {
            // Errors that do not depend on each other: their squares add up. Four times that is admitted.
            *error += 4.0 * square.sqrt() + sum * magnitude;
        }
    }
    (values, errors)
}

/// Values, and zeros behind them up to a length.
fn with_zeros(values: &[f64], len: usize) -> Cow<'_, [f64]> {
    match values.len() < len {
        true => [values, &vec![0.0; len - values.len()]].concat().into(),
        false => values.into(),
    }
}

/// The least and the largest of the values of some keys, for each element of a head. From query to query there are a few keys more.
#[derive(Debug, Default)]
struct Range {
    kv: usize,
    /// Elements of the values that were gone through.
    seen: usize,
    low: Vec<f64>,
    high: Vec<f64>,
}

impl Range {
    fn grow(&mut self, kv: usize, values: &[f64], head: usize) {
        if self.low.is_empty() || kv != self.kv || values.len() < self.seen {
            let [low, high] = [f64::INFINITY, f64::NEG_INFINITY].map(|none| vec![none; head]);
            *self = Self { kv, seen: 0, low, high };
        }
        for value in values[self.seen..].chunks_exact(head) {
            self.low.iter_mut().zip(value).for_each(|(low, value)| *low = low.min(*value));
            self.high.iter_mut().zip(value).for_each(|(high, value)| *high = high.max(*value));
        }
        self.seen = values.len();
    }
}

fn length_of(vector: &[f64]) -> f64 {
    product(vector, vector).sqrt()
}

/// Eight sums at a time, which a compiler makes vector instructions of.
fn product(one: &[f64], other: &[f64]) -> f64 {
    let (ones, rest) = one.as_chunks::<8>();
    let (others, other_rest) = other.as_chunks::<8>();
    let mut sums = [0.0_f64; 8];
    for (one, other) in ones.iter().zip(others) {
        for lane in 0..8 {
            sums[lane] += one[lane] * other[lane];
        }
    }
    sums.iter().sum::<f64>() + rest.iter().zip(other_rest).map(|(one, other)| one * other).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_that_are_not_computed_lie_within_their_values() {
        let shape = Shape::attention([4, 2], 200, 64);
        let case = Case::new(shape, inputs(DType::Bf16, shape, &mut Inputs::new(3)));
        let exact = Rounding { score: 0.0, weight: 0.0, sum: |_| 0.0 };
        let of = |most: usize| sums(&case, Form::CAUSAL, (exact, 0.0), most);
        let ((values, errors), (some, allowed)) = (of(usize::MAX), of(1 << 18));
        let computed =
            |row: usize| (64 * row..64 * (row + 1)).all(|at| some[at] == values[at] && allowed[at] == errors[at]);
        let rows = (0..shape.rows).filter(|&row| computed(row)).count();
        assert!((shape.rows / 40..shape.rows / 10).contains(&rows), "{rows}");
        for at in 0..values.len() {
            assert!((values[at] - some[at]).abs() <= allowed[at] + 1e-9, "{at}");
            // The first of a head is its only key's value.
            assert!(at % (200 * 64) >= 64 || some[at] == values[at], "{at}");
        }
    }
}
