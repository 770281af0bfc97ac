//! How far outputs are from the reference.

use fusion_course::{Data, Reference};
use serde::{Deserialize, Serialize};

/// The errors of one output.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Accuracy {
    pub output: String,
    /// Elements that were compared.
    pub elements: u64,
    /// |actual - reference|.
    pub absolute: Percentiles,
    /// The same over |reference|, where that is not 0.
    pub relative: Percentiles,
    /// The same in units in the last place: over the distance of neighbouring values of the output's type at the
    /// reference. 0.5 is correctly rounded.
    pub ulp: Percentiles,
}

/// Errors that so many in a hundred elements do not exceed; `max` is the largest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Percentiles {
    #[serde(with = "crate::judgement::number")]
    pub p50: f64,
    #[serde(with = "crate::judgement::number")]
    pub p90: f64,
    #[serde(with = "crate::judgement::number")]
    pub p99: f64,
    #[serde(with = "crate::judgement::number")]
    pub max: f64,
}

impl Accuracy {
    /// Compares as many elements as there are of both. A NaN where none belongs is infinitely far off.
    pub(crate) fn of(output: &str, reference: &Reference, actual: &Data) -> Self {
        let errors = reference.errors(actual).sorted();
        Self {
            output: output.to_owned(),
            elements: errors.absolute.len() as u64,
            absolute: Percentiles::of(&errors.absolute),
            relative: Percentiles::of(&errors.relative),
            ulp: Percentiles::of(&errors.ulps),
        }
    }
}

impl Percentiles {
    /// Of sorted errors, by nearest rank; all zero of nothing.
    fn of(errors: &[f64]) -> Self {
        let at = |part: f64| {
            let rank = (part * errors.len() as f64).ceil() as usize;
            errors.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
        };
        Self { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_occur() {
        let values: Vec<f64> = (1..=200).map(f64::from).collect();
        assert_eq!(Percentiles::of(&values), Percentiles { p50: 100.0, p90: 180.0, p99: 198.0, max: 200.0 });
        assert_eq!(Percentiles::of(&[]), Percentiles::default());
    }
}
