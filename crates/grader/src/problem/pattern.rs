//! What wrong elements have in common, where that says more than each of them does.

use fusion_course::{Data, E4m3, Mismatch, Reference, Tolerance};
use half::{bf16, f16};

/// Wrong elements from which on it is no chance that all of them lie on the same side.
const MANY: usize = 8;

/// Wrong elements from which on it is no chance that all of them lie at the same place of packs.
const FEW: usize = 4;

/// An output beside what it should be.
pub(super) struct Pattern<'a> {
    pub(super) reference: &'a Reference,
    pub(super) actual: &'a Data,
    pub(super) tolerance: Tolerance,
    /// What it held before the launch, if it is one that is updated.
    pub(super) before: Option<&'a Data>,
}

impl Pattern<'_> {
    /// Whether a wrong element still has its old value.
    pub(super) fn is_kept(&self, index: usize) -> bool {
        self.before.is_some_and(|before| self.actual.same_bits(index, before, index))
    }

    /// A sentence about most of the wrong elements, if there is one.
    pub(super) fn tell(&self, wrong: &Mismatch) -> Option<String> {
        if wrong.is_unwritten() {
            return None;
        }
        self.kept(wrong).or_else(|| self.wrapped(wrong)).or_else(|| self.one_off(wrong))
    }

    fn wrong(&self) -> impl Iterator<Item = usize> {
        (0..self.reference.len()).filter(|&index| self.reference.refuses(self.actual, index, self.tolerance))
    }

    /// All wrong elements lie at the same place of packs: as many elements apart as a thread loads or stores at once, and hardly one
    /// there is right.
    pub(super) fn component(&self, wrong: &Mismatch) -> Option<String> {
        const PACKS: [usize; 3] = [8, 4, 2];
        let at = wrong.index;
        let all: Vec<usize> = self.wrong().collect();
        let of = |pack: usize| {
            // A few elements are at the same place by chance, and what is left after the last whole pack is computed by itself.
            let there = (self.reference.len() / pack).max(1);
            let alike = all.iter().all(|index| index % pack == at % pack);
            alike && all.len() >= FEW && 2 * all.len() >= there
        };
        let pack = PACKS.into_iter().find(|&pack| of(pack))?;
        let place = at % pack;
        Some(format!(
            "all wrong elements are number {place} of {pack}, counted from 0: {}, {}, {}, ... Is one component of a pack computed from \
             another one?",
            all[0], all[1], all[2]
        ))
    }

    fn kept(&self, wrong: &Mismatch) -> Option<String> {
        let kept = self.wrong().filter(|&index| self.is_kept(index)).count();
        match kept {
            0 => None,
            1 if wrong.count == 1 => Some("was the new value written back?".to_owned()),
            _ if kept == wrong.count => {
                Some("all of them are as they were before the launch: were the new values written back?".to_owned())
            }
            _ => Some(format!("{kept} of the wrong elements are as they were before the launch")),
        }
    }

    /// All of them should be at an end of the type's range, where it was cut to the type's bits instead.
    fn wrapped(&self, wrong: &Mismatch) -> Option<String> {
        const ENDS: [f64; 2] = [i8::MIN as f64, i8::MAX as f64];
        /// How far another end than the type's may be from it.
        const BESIDE: f64 = 8.0;
        let Data::I8(values) = self.actual else { return None };
        let at_an_end = |index: usize| self.reference.expected(index).iter().all(|right| ENDS.contains(right));
        let inside = (0..self.reference.len()).filter(|&index| !at_an_end(index)).count();
        // Where nothing lies inside of the range, being right there says nothing.
        if inside == 0 || !self.wrong().all(at_an_end) {
            return None;
        }
        let value = i32::from(*values.get(wrong.index)?);
        let before = if wrong.expected[0] > 0.0 { value + 256 } else { value - 256 };
        // Not what is left of a number beyond that end. Nor is it where it is next to the end, or where all that belong to
        // one end have the same value: that is another end.
        let same_end = |index: &usize| self.reference.expected(*index) == wrong.expected;
        let others: Vec<i8> = self.wrong().filter(same_end).filter_map(|index| values.get(index).copied()).collect();
        let alike = others.len() > 1 && others.iter().all(|other| i32::from(*other) == value);
        let beside = (f64::from(value) - wrong.expected[0]).abs() <= BESIDE;
        if ENDS.contains(&f64::from(value)) || alike || beside {
            return None;
        }
        Some(format!(
            "all wrong elements should be -128 or 127, the ends of what 8 bits hold. In 8 bits {before} becomes {value}: clamp before \
             the conversion"
        ))
    }

    /// Nearly all are next to a right value: something is rounded in another way.
    fn one_off(&self, wrong: &Mismatch) -> Option<String> {
        let step = match self.actual {
            Data::Bf16(_) => "one bf16 step off",
            Data::F16(_) => "one f16 step off",
            Data::E4m3(_) => "one e4m3 step off",
            Data::I8(_) => "off by one",
            _ => return None,
        };
        let (mut off, mut inwards) = (0, 0);
        for index in self.wrong().filter(|&index| self.is_step(index)) {
            let value = self.actual.get(index).unwrap_or(f64::NAN).abs();
            off += 1;
            inwards += usize::from(self.reference.expected(index).iter().all(|right| value < right.abs()));
        }
        if off == 0 || off * 10 < wrong.count * 9 {
            return None;
        }
        let who = match off {
            1 => "it is",
            _ if off == wrong.count => "all wrong elements are",
            _ => "nearly all wrong elements are",
        };
        let why = match self.actual {
            _ if off >= MANY && inwards == off => ", and nearer to zero: is a result cut off instead of rounded?",
            Data::I8(_) => ": is it rounded as the definition says, and is what is rounded computed as it says?",
            _ => ": is something rounded twice, or at another place than the definition says, or cut off?",
        };
        Some(format!("{who} {step}{why}"))
    }

    /// Whether an element is the neighbour of a right value in its type.
    fn is_step(&self, index: usize) -> bool {
        let Some(value) = self.actual.get(index).and_then(|value| self.rank(value)) else { return false };
        let right = self.reference.expected(index).into_iter().filter_map(|right| self.rank(right));
        right.into_iter().any(|right| right.abs_diff(value) == 1)
    }

    /// The place of a value among those of the output's type, in their order; none for NaN.
    fn rank(&self, value: f64) -> Option<i32> {
        /// The bits of a float, a sign and a magnitude, moved to the upper end of 16.
        fn signed(bits: u16) -> i32 {
            let magnitude = i32::from(bits & 0x7fff);
            if bits & 0x8000 == 0 { magnitude } else { -magnitude }
        }
        match self.actual {
            _ if value.is_nan() => None,
            Data::Bf16(_) => Some(signed(bf16::from_f64(value).to_bits())),
            Data::F16(_) => Some(signed(f16::from_f64(value).to_bits())),
            Data::E4m3(_) => Some(signed(u16::from(E4m3::from_f64(value).to_bits()) << 8) >> 8),
            _ => Some(value as i32),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(reference: Vec<f64>, actual: Data, before: Option<&Data>) -> Option<String> {
        let reference = Reference::OneOf(reference.into_iter().map(|value| [value; 2]).collect());
        let tolerance = Tolerance::EXACT;
        let wrong = reference.check(&actual, tolerance).expect_err("something is wrong");
        Pattern { reference: &reference, actual: &actual, tolerance, before }.tell(&wrong)
    }

    #[test]
    fn wrong_elements_of_a_component_are_told() {
        let component = |wrong: &dyn Fn(usize) -> bool| {
            let reference = Reference::OneOf((0..64).map(|i| [f64::from(i); 2]).collect());
            let actual = Data::F32((0..64).map(|i| if wrong(i) { -1.0 } else { i as f32 }).collect());
            let tolerance = Tolerance::EXACT;
            let found = reference.check(&actual, tolerance).expect_err("something is wrong");
            Pattern { reference: &reference, actual: &actual, tolerance, before: None }.component(&found)
        };
        assert!(component(&|i| i % 4 == 3).unwrap().contains("number 3 of 4, counted from 0: 3, 7, 11,"));
        assert!(component(&|i| i % 8 == 5).unwrap().contains("number 5 of 8"));
        assert_eq!(component(&|i| i % 4 > 1), None);
        assert_eq!(component(&|i| i % 4 == 3 && i > 40), None);
        assert_eq!(component(&|_| true), None);
    }

    /// Values of the type around 1, and how many steps each of them is moved away from zero.
    fn moved(steps: &[i32]) -> (Vec<f64>, Data) {
        let right: Vec<bf16> = (0..steps.len() as u16).map(|i| bf16::from_bits((0x3f80 + i) | i << 15)).collect();
        let shift = |(value, steps): (&bf16, &i32)| bf16::from_bits((i32::from(value.to_bits()) + steps) as u16);
        let actual = right.iter().zip(steps).map(shift).collect();
        (right.iter().map(|value| value.to_f64()).collect(), Data::Bf16(actual))
    }

    #[test]
    fn one_step_off_is_a_question_of_rounding() {
        let (right, actual) = moved(&[0, 1, 0, -1, 1, -1, 1, 1, 1, 1, 1]);
        let expected = "all wrong elements are one bf16 step off: is something rounded twice, or at another place than the definition says, or cut off?";
        assert_eq!(told(right, actual, None).as_deref(), Some(expected));
        let (right, actual) = moved(&[0, -1, 0]);
        assert!(told(right, actual, None).unwrap().starts_with("it is one bf16 step off"));
        let (right, actual) = moved(&[&[1; 19][..], &[2]].concat());
        assert!(told(right, actual, None).unwrap().starts_with("nearly all wrong elements are one bf16 step off"));
    }

    #[test]
    fn towards_zero_is_told() {
        let expected =
            "all wrong elements are one bf16 step off, and nearer to zero: is a result cut off instead of rounded?";
        let (right, actual) = moved(&[&[-1; 8][..], &[0]].concat());
        assert_eq!(told(right, actual, None).as_deref(), Some(expected));
        // Chance does that with a few.
        let (right, actual) = moved(&[-1; 7]);
        assert!(!told(right, actual, None).unwrap().contains("zero"));
        let casts = told(
            (1..12).map(|i| f64::from(i - 6) * 3.0).collect(),
            Data::I8((1..12).map(|i: i8| (i - 6) * 3 - (i - 6).signum()).collect()),
            None,
        );
        assert!(casts.unwrap().starts_with("all wrong elements are off by one, and nearer to zero"));
    }

    #[test]
    fn other_mistakes_are_not_called_rounding() {
        let (right, actual) = moved(&[&[1; 8][..], &[2]].concat());
        assert_eq!(told(right, actual, None), None);
        assert_eq!(told(vec![1.0, 2.0], Data::I8(vec![3, 3]), None), None);
        assert_eq!(told(vec![1.0], Data::F32(vec![1.000_000_1]), None), None);
        assert_eq!(told(vec![1.0, 2.0], Data::Bf16(vec![bf16::NAN; 2]), None), None);
    }

    #[test]
    fn what_was_there_before_is_told() {
        let before = Data::F32(vec![1.0, 2.0, 3.0]);
        let told = |actual: [f32; 3]| told(vec![4.0, 5.0, 6.0], Data::F32(actual.to_vec()), Some(&before)).unwrap();
        let all = "all of them are as they were before the launch: were the new values written back?";
        assert_eq!(told([1.0, 2.0, 3.0]), all);
        // Which one that is, the title says.
        assert_eq!(told([4.0, 5.0, 3.0]), "was the new value written back?");
        assert_eq!(told([1.0, 2.0, 9.0]), "2 of the wrong elements are as they were before the launch");
    }
}
