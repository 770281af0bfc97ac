//! How far an output is from what is right, in three units.

use crate::{DType, Data, Reference};

/// The errors of an output's elements, in their order. `relative` has none for an element whose right value is 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Errors {
    /// |actual - reference|.
    pub absolute: Vec<f64>,
    /// The same over |reference|.
    pub relative: Vec<f64>,
    /// The same in units in the last place: over the distance of neighbouring values of the output's type at the
    /// reference.
    pub ulps: Vec<f64>,
}

impl Reference {
    /// The errors of as many elements as there are of both. A NaN where none belongs is infinitely far off.
    pub fn errors(&self, actual: &Data) -> Errors {
        let dtype = actual.dtype();
        let mut errors = Errors::default();
        for index in 0..self.len().min(actual.len()) {
            let value = actual.get(index).unwrap_or(f64::NAN);
            let expected = self.nearest(index, value);
            let error = distance(value, expected, dtype);
            errors.absolute.push(error);
            errors.ulps.push(error / spacing(dtype, expected));
            if expected != 0.0 {
                errors.relative.push(error / expected.abs());
            }
        }
        errors
    }

    /// The right value that is nearest to the actual one.
    fn nearest(&self, index: usize, actual: f64) -> f64 {
        let [one, other] = self.expected(index);
        if (actual - other).abs() < (actual - one).abs() { other } else { one }
    }
}

impl Errors {
    /// Sorts each kind, so that the error of a rank can be asked for.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        for errors in [&mut self.absolute, &mut self.relative, &mut self.ulps] {
            errors.sort_unstable_by(f64::total_cmp);
        }
        self
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
    fn errors_are_counted_in_each_way() {
        let reference = Reference::Close { values: vec![2.0, 0.0, 1e300, 4.0], magnitudes: None };
        let actual = Data::F32(vec![2.0f32.next_up(), 0.5, f32::INFINITY, f32::NAN]);
        let errors = reference.errors(&actual);
        assert_eq!((errors.absolute.len(), errors.relative.len()), (4, 3));
        assert_eq!(errors.absolute[1..], [0.5, 0.0, f64::INFINITY]);
        assert_eq!(errors.ulps[0], 1.0);
        assert_eq!(errors.sorted().absolute[3], f64::INFINITY);
        let either = Reference::OneOf(vec![[2.0, 3.0]]);
        assert_eq!(either.errors(&Data::I8(vec![3])).absolute, [0.0]);
        assert_eq!(either.errors(&Data::I8(vec![5])).ulps, [2.0]);
    }
}
