//! Whether an output is right, and the first thing to say about it when it is not.

use crate::{Data, Reference, Tolerance};

/// What is wrong with an output.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    /// The first wrong element.
    pub index: usize,
    /// What it may be; the two are the same away from a quantizer's ties.
    pub expected: [f64; 2],
    /// What it is; NaN also where the output is shorter than the reference.
    pub actual: f64,
    /// How many elements are wrong, of how many.
    pub count: usize,
    pub len: usize,
    /// The wrong element that is furthest off, and by how much; infinite for a NaN.
    pub worst_index: usize,
    pub worst_error: f64,
    /// How many of the wrong elements still hold the poison that the buffer was filled with.
    pub unwritten: usize,
}

impl Mismatch {
    /// Every wrong element is one that was never written: what was written is right.
    pub fn is_unwritten(&self) -> bool {
        self.unwritten == self.count
    }
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { index, expected: [expected, alternative], actual, count, len, worst_index, worst_error, .. } = self;
        write!(f, "element {index}: expected {expected}")?;
        if alternative != expected {
            write!(f, " or {alternative}")?;
        }
        write!(f, ", got {actual}; {count} of {len} are wrong")?;
        match self.unwritten {
            0 => {}
            all if all == *count => write!(f, ", none of them written")?,
            some => write!(f, ", {some} of them never written")?,
        }
        if worst_error.is_finite() {
            write!(f, "; the worst is element {worst_index}, off by {worst_error:.3e}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Mismatch {}

impl Reference {
    /// Compares an output with the reference. The tolerance is for [`Reference::Close`];
    /// of [`Reference::OneOf`] the two values are the ends of what is right.
    pub fn check(&self, actual: &Data, tolerance: Tolerance) -> Result<(), Mismatch> {
        let poison = Data::from_bytes(actual.dtype(), &vec![actual.dtype().poison(); actual.dtype().bytes()]);
        let mut found: Option<Mismatch> = None;
        for index in 0..self.len() {
            if !self.refuses(actual, index, tolerance) {
                continue;
            }
            let value = actual.get(index).unwrap_or(f64::NAN);
            let expected = self.expected(index);
            let error = match (value - expected[0]).abs().min((value - expected[1]).abs()) {
                error if error.is_nan() => f64::INFINITY,
                error => error,
            };
            let mismatch = found.get_or_insert(Mismatch {
                index,
                expected,
                actual: value,
                count: 0,
                len: self.len(),
                worst_index: index,
                worst_error: error,
                unwritten: 0,
            });
            mismatch.count += 1;
            mismatch.unwritten += usize::from(actual.same_bits(index, &poison, 0));
            if error > mismatch.worst_error {
                (mismatch.worst_index, mismatch.worst_error) = (index, error);
            }
        }
        found.map_or(Ok(()), Err)
    }

    /// Whether one element of an output is wrong.
    pub fn refuses(&self, actual: &Data, index: usize, tolerance: Tolerance) -> bool {
        self.refuses_at(actual, index, index, tolerance)
    }

    /// The same where the element lies at another place than the reference has it.
    pub fn refuses_at(&self, actual: &Data, place: usize, index: usize, tolerance: Tolerance) -> bool {
        let value = actual.get(place).unwrap_or(f64::NAN);
        match self {
            Reference::Close { magnitudes, .. } => {
                let [reference, _] = self.expected(index);
                !tolerance.admits(reference, magnitude(magnitudes.as_ref(), index), value, actual.dtype().largest())
            }
            Reference::OneOf(_) => {
                let [one, other] = self.expected(index);
                !(one.min(other)..=one.max(other)).contains(&value)
            }
        }
    }

    /// How far an element may be from where it is expected: 0 where only one number is right.
    pub fn allowed(&self, index: usize, tolerance: Tolerance) -> f64 {
        let [one, other] = self.expected(index);
        match self {
            Reference::Close { magnitudes, .. } => tolerance.allowed(one, magnitude(magnitudes.as_ref(), index)),
            Reference::OneOf(_) => (one - other).abs(),
        }
    }

    /// What one element may be; NaN past the end.
    pub fn expected(&self, index: usize) -> [f64; 2] {
        match self {
            Reference::Close { values, .. } => [values.get(index).copied().unwrap_or(f64::NAN); 2],
            Reference::OneOf(values) => values.get(index).copied().unwrap_or([f64::NAN; 2]),
        }
    }
}

fn magnitude(magnitudes: Option<&Vec<f64>>, index: usize) -> f64 {
    magnitudes.and_then(|all| all.get(index)).copied().unwrap_or(0.0)
}

impl Tolerance {
    fn allowed(self, reference: f64, magnitude: f64) -> f64 {
        self.absolute + self.relative * reference.abs().max(magnitude)
    }

    /// Whether `actual` passes for `reference`, in a type whose largest finite value is `largest`.
    ///
    /// A reference past `largest` is right as infinity, and within the tolerance of `largest` both
    /// infinity and a finite value are.
    fn admits(self, reference: f64, magnitude: f64, actual: f64, largest: f64) -> bool {
        if reference.is_nan() {
            return actual.is_nan();
        }
        let allowed = self.allowed(reference, magnitude);
        if actual.is_infinite() {
            return actual.signum() == reference.signum() && reference.abs() + allowed >= largest;
        }
        // An infinite reference allows an infinite error: it must not admit a finite value.
        reference.is_finite() && (actual - reference).abs() <= allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOLERANCE: Tolerance = Tolerance { absolute: 1e-6, relative: 1e-5 };

    fn close(values: &[f64]) -> Reference {
        Reference::Close { values: values.to_vec(), magnitudes: None }
    }

    #[test]
    fn names_the_first_and_the_worst_and_counts() {
        let mismatch = close(&[1.0, 2.0, 3.0, 4.0])
            .check(&Data::F32(vec![1.0, 2.5, 3.0, 9.0]), TOLERANCE)
            .expect_err("two are wrong");
        assert_eq!((mismatch.index, mismatch.count, mismatch.worst_index, mismatch.unwritten), (1, 2, 3, 0));
        assert_eq!(
            mismatch.to_string(),
            "element 1: expected 2, got 2.5; 2 of 4 are wrong; the worst is element 3, off by 5.000e0"
        );
    }

    #[test]
    fn poison_is_called_unwritten() {
        let output = Data::from_bytes(crate::DType::F32, &[0xff; 8]);
        let mismatch = close(&[1.0, 2.0]).check(&output, TOLERANCE).expect_err("nothing was written");
        assert!(mismatch.is_unwritten());
        assert_eq!(mismatch.to_string(), "element 0: expected 1, got NaN; 2 of 2 are wrong, none of them written");
    }

    #[test]
    fn a_poison_value_that_is_right_is_right() {
        assert_eq!(Reference::OneOf(vec![[127.0; 2]]).check(&Data::I8(vec![0x7f]), Tolerance::EXACT), Ok(()));
    }

    #[test]
    fn a_quantizer_near_a_tie_may_go_either_way_but_no_further() {
        let reference = Reference::OneOf(vec![[2.0, 3.0]]);
        for (value, right) in [(1, false), (2, true), (3, true), (4, false)] {
            assert_eq!(reference.check(&Data::I8(vec![value]), Tolerance::EXACT).is_ok(), right, "{value}");
        }
    }

    #[test]
    fn overflow_compares_as_the_type_overflows() {
        let max = f64::from(f32::MAX);
        for (reference, actual, right) in [
            (1e300, f32::INFINITY, true),
            (f64::INFINITY, f32::INFINITY, true),
            (f64::INFINITY, f32::MAX, false),
            (1e300, f32::MAX, false),
            (max * 1.000_001, f32::MAX, true),
            (max * 0.999_999, f32::INFINITY, true),
            (max * 0.9, f32::INFINITY, false),
            (1e300, f32::NEG_INFINITY, false),
            (-1e300, f32::NEG_INFINITY, true),
            (f64::INFINITY, f32::NAN, false),
        ] {
            let result = close(&[reference]).check(&Data::F32(vec![actual]), TOLERANCE);
            assert_eq!(result.is_ok(), right, "{reference:e} {actual:e}");
        }
    }

    #[test]
    fn magnitudes_widen_the_tolerance_where_terms_cancel() {
        let reference = Reference::Close { values: vec![0.0], magnitudes: Some(vec![1000.0]) };
        assert_eq!(reference.check(&Data::F32(vec![0.009]), TOLERANCE), Ok(()));
        assert!(reference.check(&Data::F32(vec![0.02]), TOLERANCE).is_err());
    }

    #[test]
    fn a_short_output_is_wrong() {
        assert!(close(&[0.0, 0.0]).check(&Data::F32(vec![0.0]), TOLERANCE).is_err());
    }
}
