//! Bootstrap intervals.

use fusion_baseline::statistics::{median, resampled_medians};

use crate::judgement::Interval;

/// The median of times, or of anything above 0, with its 95% interval.
pub fn median_interval(times: &[f64], seed: u64) -> Option<Interval> {
    let logs: Vec<f64> = times.iter().map(|time| time.ln()).collect();
    ratio_interval(&logs, seed)
}

/// Resamples of the bootstrap: the 2.5% quantile is then the 25th value, steady to a fraction of the interval's width.
const RESAMPLES: usize = 1000;

/// The median of the ratios whose logarithms are given, with its 95% percentile-bootstrap interval.
///
/// Pairs are resampled with replacement, so the interval knows how the pairs scatter and assumes no
/// distribution (Efron & Tibshirani, *An Introduction to the Bootstrap*, ch. 13). Logarithms make
/// `a / b` and `b / a` equally far from 1. The same seed gives the same interval.
pub fn ratio_interval(log_ratios: &[f64], seed: u64) -> Option<Interval> {
    let center = median(log_ratios)?;
    let medians = resampled_medians(log_ratios, RESAMPLES, seed);
    let quantile = |q: f64| medians[((medians.len() - 1) as f64 * q).round() as usize];
    Some(Interval { median: center.exp(), low: quantile(0.025).exp(), high: quantile(0.975).exp() })
}

/// Which samples to keep: those whose clock is within 3% of the usual one (the median). Without
/// clocks nothing is known against any of them.
pub fn steady_clocks(clocks: &[Option<u32>]) -> Vec<bool> {
    let known: Vec<f64> = clocks.iter().flatten().map(|&mhz| f64::from(mhz)).collect();
    let Some(usual) = median(&known) else { return vec![true; clocks.len()] };
    clocks.iter().map(|clock| clock.is_none_or(|mhz| (f64::from(mhz) / usual - 1.0).abs() <= 0.03)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `n` log-ratios around `ratio` with a uniform scatter of +-`scatter`.
    fn noisy(ratio: f64, scatter: f64, n: usize) -> Vec<f64> {
        let mut rng = fastrand::Rng::with_seed(7);
        (0..n).map(|_| ratio.ln() + scatter * (2.0 * rng.f64() - 1.0)).collect()
    }

    #[test]
    fn the_interval_holds_the_truth_and_narrows_with_more_pairs() {
        let few = ratio_interval(&noisy(1.67, 0.1, 31), 1).unwrap();
        let many = ratio_interval(&noisy(1.67, 0.1, 1000), 1).unwrap();
        for interval in [few, many] {
            assert!(interval.low <= 1.67 && 1.67 <= interval.high, "{interval:?}");
            assert!(interval.low <= interval.median && interval.median <= interval.high);
        }
        assert!(many.high - many.low < 0.5 * (few.high - few.low));
        assert!(many.within(0.02) && !few.within(0.001));
    }

    #[test]
    fn the_interval_is_deterministic_and_ignores_outliers() {
        let mut ratios = noisy(2.0, 0.01, 60);
        assert_eq!(ratio_interval(&ratios, 5), ratio_interval(&ratios, 5));
        ratios[3] = 100f64.ln();
        ratios[4] = 0.01f64.ln();
        assert!(ratio_interval(&ratios, 5).unwrap().within(0.02));
        assert_eq!(ratio_interval(&[], 5), None);
    }

    #[test]
    fn samples_with_a_sagging_clock_are_dropped() {
        let clocks = [Some(1980), Some(1965), None, Some(1400), Some(1980)];
        assert_eq!(steady_clocks(&clocks), [true, true, true, false, true]);
        assert_eq!(steady_clocks(&[None, None]), [true, true]);
    }
}
