//! How far outputs are from the reference.

use fusion_course::{DType, Data, Reference};
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
        let dtype = actual.dtype();
        let len = reference.len().min(actual.len());
        let (mut absolute, mut relative, mut ulps) = (Vec::new(), Vec::new(), Vec::new());
        for index in 0..len {
            let value = actual.get(index).unwrap_or(f64::NAN);
            let expected = nearest(reference, index, value);
            let error = distance(value, expected, dtype);
            absolute.push(error);
            ulps.push(error / spacing(dtype, expected));
            if expected != 0.0 {
                relative.push(error / expected.abs());
            }
        }
        Self {
            output: output.to_owned(),
            elements: len as u64,
            absolute: Percentiles::of(absolute),
            relative: Percentiles::of(relative),
            ulp: Percentiles::of(ulps),
        }
    }
}

impl Percentiles {
    /// By nearest rank; all zero of nothing.
    fn of(mut errors: Vec<f64>) -> Self {
        errors.sort_unstable_by(f64::total_cmp);
        let at = |part: f64| {
            let rank = (part * errors.len() as f64).ceil() as usize;
            errors.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
        };
        Self { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1.0) }
    }
}

/// The right value that is nearest to the actual one.
fn nearest(reference: &Reference, index: usize, actual: f64) -> f64 {
    match reference {
        Reference::Close { values, .. } => values[index],
        Reference::OneOf(values) => {
            let [one, other] = values[index];
            if (actual - other).abs() < (actual - one).abs() { other } else { one }
        }
    }
}

fn distance(actual: f64, expected: f64, dtype: DType) -> f64 {
    let overflows = expected.abs() > dtype.largest() && actual.is_infinite() && actual.signum() == expected.signum();
    if actual == expected || overflows || (actual.is_nan() && expected.is_nan()) {
        return 0.0;
    }
    match (actual - expected).abs() {
        error if error.is_nan() => f64::INFINITY,
        error => error,
    }
}

/// The distance of the type's neighbouring values at `value`: IEEE 754 floats with so many digits; 1 for integers.
fn spacing(dtype: DType, value: f64) -> f64 {
    let (digits, least, greatest) = match dtype {
        DType::F32 => (24, -126, 127),
        DType::F16 => (11, -14, 15),
        DType::Bf16 => (8, -126, 127),
        DType::E4m3 => (4, -6, 8),
        DType::I8 | DType::I32 | DType::U64 => return 1.0,
    };
    let exponent = if value == 0.0 { least } else { value.abs().log2().floor().clamp(-1e4, 1e4) as i32 };
    2f64.powi(exponent.clamp(least, greatest) - (digits - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ulps_are_the_distance_of_neighbours() {
        for value in [1.0f32, 1.5, 3.25e-20, 123.0, f32::MIN_POSITIVE / 4.0] {
            assert_eq!(spacing(DType::F32, f64::from(value)), f64::from(value.next_up()) - f64::from(value), "{value}");
        }
        assert_eq!(spacing(DType::F16, 1.0), 2f64.powi(-10));
        assert_eq!(spacing(DType::Bf16, 300.0), 2.0);
        assert_eq!(spacing(DType::E4m3, 448.0), 32.0);
        assert_eq!(spacing(DType::I8, 3.0), 1.0);
    }

    #[test]
    fn percentiles_are_values_that_occur() {
        let values = (1..=200).map(f64::from).rev().collect();
        assert_eq!(Percentiles::of(values), Percentiles { p50: 100.0, p90: 180.0, p99: 198.0, max: 200.0 });
        assert_eq!(Percentiles::of(Vec::new()), Percentiles::default());
    }

    #[test]
    fn errors_are_counted_in_each_way() {
        let reference = Reference::Close { values: vec![2.0, 0.0, 1e300, 4.0], magnitudes: None };
        let actual = Data::F32(vec![2.0f32.next_up(), 0.5, f32::INFINITY, f32::NAN]);
        let accuracy = Accuracy::of("out", &reference, &actual);
        assert_eq!((accuracy.elements, accuracy.ulp.p50 > 0.9, accuracy.absolute.max), (4, true, f64::INFINITY));
        let either = Reference::OneOf(vec![[2.0, 3.0]]);
        assert_eq!(Accuracy::of("out", &either, &Data::I8(vec![3])).absolute.max, 0.0);
        assert_eq!(Accuracy::of("out", &either, &Data::I8(vec![5])).ulp.max, 2.0);
    }
}
