//! Medians, of measured times and of resamples of them.

/// The median; `None` of nothing. The mean of the middle two for an even count.
pub fn median(values: &[f64]) -> Option<f64> {
    median_in_place(&mut values.to_vec())
}

/// The medians of `resamples` samples, each as many values as were given, drawn with replacement; in ascending order:
/// the bootstrap (Efron & Tibshirani, *An Introduction to the Bootstrap*, ch. 13). Without values there is none. The
/// same seed gives the same ones.
pub fn resampled_medians(values: &[f64], resamples: usize, seed: u64) -> Vec<f64> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut sample = values.to_vec();
    let mut medians: Vec<f64> = (0..resamples)
        .filter_map(|_| {
            sample.fill_with(|| values[rng.usize(0..values.len())]);
            median_in_place(&mut sample)
        })
        .collect();
    medians.sort_by(f64::total_cmp);
    medians
}

fn median_in_place(values: &mut [f64]) -> Option<f64> {
    let middle = values.len() / 2;
    if values.is_empty() {
        return None;
    }
    let even = values.len().is_multiple_of(2);
    let (below, upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let upper = *upper;
    if !even {
        return Some(upper);
    }
    let lower = below.iter().copied().max_by(f64::total_cmp)?;
    Some((lower + upper) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[4.0, 1.0, 3.0]), Some(3.0));
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(median(&[2.0, 2.0, 2.0, f64::INFINITY]), Some(2.0));
    }

    #[test]
    fn medians_of_resamples_lie_among_the_values() {
        assert!(resampled_medians(&[], 10, 1).is_empty());
        assert_eq!(resampled_medians(&[2.0], 3, 1), [2.0; 3]);
        let medians = resampled_medians(&[1.0, 2.0, 4.0, 8.0, 16.0], 100, 1);
        assert_eq!(medians.len(), 100);
        assert!(medians.is_sorted() && medians[0] < medians[99] && (1.0..=16.0).contains(&medians[0]), "{medians:?}");
    }
}
