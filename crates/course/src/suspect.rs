//! What a usual mistake looks like: the rows at which it shows, or all that comes out.

use crate::{Case, Reference};

/// What comes out where the operation was mistaken for another one, and what then is to be asked.
///
/// It is asked only where every element is right for the other operation, and not all of them for the exercise's.
#[derive(Clone, Copy, Debug)]
pub struct Mistaken {
    /// As [`crate::Exercise::reference`].
    pub outputs: fn(&Case) -> Vec<Reference>,
    /// What that is: `GELU of the sum alone, and then the bias`.
    pub what: &'static str,
    /// `Is the bias added before GELU?`
    pub question: &'static str,
}

/// What the wrong rows of an output have in common where a usual mistake was made, and what then is to be asked.
///
/// It is asked only where it tells wrong rows from right ones: every wrong row has a higher score than any right one.
#[derive(Clone, Copy, Debug)]
pub struct Suspect {
    /// How much a row of the first input is of that kind; NaN for a row that says nothing either way.
    pub score: fn(&[f64]) -> f64,
    /// The least score of a wrong row.
    pub least: f64,
    /// Which rows these are: `those whose elements are all alike`.
    pub rows: &'static str,
    /// `Is the small constant added before the root is taken?`
    pub question: &'static str,
}

impl Suspect {
    /// The mean of the squares minus the square of the mean, as a variance.
    pub const CANCELLATION: Self = Self {
        // Of equal elements, both means may be exact.
        score: |row| if variance(row) > 0.0 { mean(row).powi(2) / variance(row) } else { f64::NAN },
        least: 100.0,
        rows: "those that lie far from zero, beside how much they vary",
        question: "Is the variance the mean of the squares minus the square of the mean, E[x^2] - mean^2? These two are \
                   nearly the same there, and rounding is all that is left: subtract the mean first, then square",
    };

    /// Exponentials of elements as they are.
    pub const OVERFLOW: Self = Self {
        score: |row| largest(row).abs(),
        least: 60.0,
        rows: "those that lie far from zero",
        question: "Is the largest element subtracted before the exponential is taken? Without that it overflows, or all of \
                   them vanish",
    };

    /// A maximum that begins with zero.
    pub const NEGATIVE: Self = Self {
        score: |row| -largest(row),
        least: f64::MIN_POSITIVE,
        rows: "those whose elements are far below zero",
        question: "Does the maximum begin with 0, or does a thread without an element bring 0 to it? It must be minus infinity, \
                   which is less than any element",
    };

    /// A small constant at another place than under the root, or another one, where a variance is divided by.
    pub const NEARLY_ALIKE: Self = Self {
        score: |row| one_over(variance(row)),
        least: 100.0,
        rows: "those whose elements are nearly alike",
        question: "Is the small constant the one of the definition, and added before the root is taken?",
    };

    /// The same for a mean of squares.
    pub const NEAR_ZERO: Self = Self {
        score: |row| one_over(row.iter().map(|x| x * x).sum::<f64>() / row.len().max(1) as f64),
        least: 100.0,
        rows: "those whose elements are all near zero",
        question: "Is the small constant the one of the definition, and added before the root is taken?",
    };
}

/// Of nothing, no number: a row of zeros says nothing either way.
fn one_over(value: f64) -> f64 {
    if value > 0.0 { 1.0 / value } else { f64::NAN }
}

fn mean(row: &[f64]) -> f64 {
    row.iter().sum::<f64>() / row.len().max(1) as f64
}

fn variance(row: &[f64]) -> f64 {
    let mean = mean(row);
    row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / row.len().max(1) as f64
}

fn largest(row: &[f64]) -> f64 {
    row.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}
