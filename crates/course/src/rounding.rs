//! What rounding may do to sums in f32: the part of their error models that row-wise tolerances share.

/// Rounding to the nearest f32 is off by at most this share of the result.
pub(crate) const UNIT: f64 = 1.0 / (1u64 << 24) as f64;

/// What the f32 sum of some terms may be off by, in whatever order they are added.
///
/// Errors that do not depend on each other add up like the steps of a random walk, to about `UNIT * sqrt(n)` of the
/// magnitudes at most (Higham and Mary, "A New Approach to Probabilistic Rounding Error Analysis", SIAM J. Sci.
/// Comput. 41, 2019); twice that is admitted. Equal terms err to the same side many times over, so twice what adding
/// them one after another is off by, at its worst, is admitted too.
pub(crate) fn sum_error(terms: &[f64]) -> f64 {
    sum_error_by(terms, 1)
}

/// The same where at least so many threads share the terms, and then add up what each has.
///
/// A term goes through the additions of one thread's share, and then through as many as the logarithm of the number of threads.
pub(crate) fn sum_error_by(terms: &[f64], threads: usize) -> f64 {
    let threads = threads.max(1);
    let magnitude: f64 = terms.iter().map(|term| term.abs()).sum();
    let lanes = (0..threads.min(terms.len())).map(|lane| one_by_one(terms.iter().skip(lane).step_by(threads)));
    let worst = lanes.fold(0.0, f64::max);
    let additions = terms.len().div_ceil(threads) as f64 + (threads as f64).log2();
    2.0 * magnitude * worst.max(UNIT * additions.sqrt())
}

/// What adding terms one after another is off by at its worst, relative to the sum of their magnitudes so far.
fn one_by_one<'a>(terms: impl Iterator<Item = &'a f64>) -> f64 {
    let (mut plain, mut exact, mut magnitude, mut worst) = (0.0_f32, 0.0, 0.0, 0.0_f64);
    for &term in terms {
        let rounded = term as f32;
        plain += rounded;
        exact += f64::from(rounded);
        magnitude += term.abs();
        if magnitude > 0.0 {
            worst = worst.max((f64::from(plain) - exact).abs() / magnitude);
        }
    }
    worst
}

/// What layernorm makes of an element, before anything is added to it, and what f32 may be off by there.
pub(crate) struct Normed {
    pub(crate) value: f64,
    pub(crate) error: f64,
}

/// (x - mean) / sqrt(variance + epsilon) * gamma for a row, with the errors of f32 to first order, where at least so many threads
/// share the sums:
///
/// * the mean is off by what adding the row is off by, over its length, and by a rounding;
/// * x - mean is off by that and by a rounding of its own; 1 / sqrt(variance + epsilon) multiplies both, which is by up to
///   316 in a row that is nearly constant, where epsilon is 1e-5;
/// * the variance is off, relatively, by what adding the squares is off by; a wrong mean adds its square. The root
///   halves that;
/// * the factor and the products round by 2^-24 of what they are, or by up to four times that where they are approximate.
pub(crate) fn layernorm(row: &[f32], gamma: &[f64], epsilon: f32, threads: usize) -> Vec<Normed> {
    let row: Vec<f64> = row.iter().map(|&x| f64::from(x)).collect();
    let columns = row.len().max(1) as f64;
    let mean = row.iter().sum::<f64>() / columns;
    let of_mean = sum_error_by(&row, threads) / columns + UNIT * mean.abs();
    let squares: Vec<f64> = row.iter().map(|x| (x - mean).powi(2)).collect();
    let shifted = squares.iter().sum::<f64>() / columns + f64::from(epsilon);
    let factor = 1.0 / shifted.sqrt();
    let of_variance = sum_error_by(&squares, threads) / columns + of_mean.powi(2);
    let of_factor = 0.5 * of_variance / shifted + 8.0 * UNIT;
    let normed = row.iter().zip(gamma).map(|(x, gamma)| {
        let value = (x - mean) * factor * gamma;
        Normed { value, error: (of_mean * factor * gamma).abs() + value.abs() * (of_factor + 4.0 * UNIT) }
    });
    normed.collect()
}

#[cfg(test)]
mod tests {
    use assert_approx_eq::assert_approx_eq;

    use super::*;

    #[test]
    fn equal_terms_err_further_than_others() {
        let others: Vec<f64> = (0..4096_u32).map(|i| f64::from((i * 7919 % 1000) as f32 / 1000.0)).collect();
        let relative = |terms: &[f64]| sum_error(terms) / terms.iter().sum::<f64>();
        let random_walk = 2.0 * 64.0 * UNIT;
        assert_approx_eq!(relative(&others) / random_walk, 1.0, 1e-6);
        assert!(relative(&[f64::from(1.1_f32); 4096]) > random_walk);
        assert_eq!(sum_error(&[0.0; 100]), 0.0);
        assert_eq!(sum_error(&[]), 0.0);
    }
}
