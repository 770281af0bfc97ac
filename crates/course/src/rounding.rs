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
    2.0 * magnitude * worst.max(UNIT * (terms.len() as f64).sqrt())
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
