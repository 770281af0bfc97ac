//! Predicted times beside measured ones.

use std::collections::HashMap;

use fusion_device::Compiler;
use fusion_machine::Profile;
use fusion_machine::report::account::Bound;
use fusion_machine::timing::Effect;

use crate::case::{Case, Point};
use crate::measured::is_held_out;
use crate::parallel;
use crate::predict::Predictor;
use crate::record::Record;
use crate::suite::cases;

/// A point that was measured, and what is predicted of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    pub record: Record,
    pub predicted_ns: f64,
    pub role: Role,
    /// What the clock takes it to be bound by, where that is known.
    pub bound: Option<Bound>,
}

/// What a point is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Nothing was fitted to it: the clock is judged by it.
    HeldOut,
    /// It was there to be looked at.
    Fitted,
    /// Its author did not know the clock, and it was predicted before it was looked at. Since then it was there to be looked at, too.
    ByOthers,
    /// Rates are read off it, one effect at a time; a chain of one instruction or a kernel that asks the clock is no kernel.
    Calibration,
}

/// How far predictions are off, as shares of what was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Errors {
    pub points: usize,
    pub median: f64,
    /// Nine of ten are no further off.
    pub p90: f64,
    pub worst: f64,
    /// The median with its sign: below 0 where predictions are too fast.
    pub bias: f64,
}

/// How far predictions of the suite's points for the H200 may be off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    pub role: Role,
    /// Of so many points at least.
    pub points: usize,
    pub median: f64,
    pub p90: f64,
    pub worst: f64,
}

/// What is asked of a clock that nothing was fitted for is a median of 10%, nine of ten within 25% and none beyond 60%.
/// The clock does better, and may not become worse. Of kernels that came later, written by others, it was off by 7.8%,
/// 32% and 286% at first.
pub const BARS: [Bar; 3] = [
    Bar { role: Role::HeldOut, points: 600, median: 0.07, p90: 0.20, worst: 0.60 },
    Bar { role: Role::ByOthers, points: 500, median: 0.08, p90: 0.27, worst: 0.90 },
    Bar { role: Role::Fitted, points: 450, median: 0.05, p90: 0.15, worst: 0.50 },
];

impl Bar {
    /// Whether predictions are as near as they must be, however many they are.
    pub fn holds(&self, errors: &Errors) -> bool {
        errors.median < self.median && errors.p90 < self.p90 && errors.worst < self.worst
    }

    /// The bars that these points miss, each with what they have.
    pub fn missed(points: &[Compared]) -> Vec<(Self, Errors)> {
        let errors = |bar: &Self| Errors::of(points.iter().filter(|point| point.role == bar.role));
        let all = BARS.into_iter().map(|bar| (bar, errors(&bar)));
        all.filter(|(bar, errors)| errors.points < bar.points || !bar.holds(errors)).collect()
    }
}

impl Compared {
    /// 0.1 for a prediction that is a tenth too slow.
    pub fn error(&self) -> f64 {
        self.predicted_ns / self.record.ns - 1.0
    }
}

impl Errors {
    pub fn of<'a>(points: impl Iterator<Item = &'a Compared>) -> Self {
        let mut signed: Vec<f64> = points.map(Compared::error).collect();
        if signed.is_empty() {
            return Self::default();
        }
        signed.sort_by(f64::total_cmp);
        let bias = signed[signed.len() / 2];
        let mut sizes: Vec<f64> = signed.iter().map(|error| error.abs()).collect();
        sizes.sort_by(f64::total_cmp);
        let at = |share: f64| sizes[((sizes.len() - 1) as f64 * share).round() as usize];
        Self { points: sizes.len(), median: at(0.5), p90: at(0.9), worst: at(1.0), bias }
    }
}

/// Predicts every point of the suite that was measured, in the order of the suite, on the GPU of a profile. `without`: what the clock
/// leaves out. `seen` hears the name of each case that is done.
///
/// # Errors
/// What cannot be compiled, read or executed.
pub fn validate(
    compiler: &Compiler,
    profile: &Profile,
    without: Option<Effect>,
    records: &[Record],
    seen: impl Fn(&str) + Sync,
) -> Result<Vec<Compared>, String> {
    let known: HashMap<_, &Record> =
        records.iter().map(|record| ((&record.kernel, &record.at, record.cache), record)).collect();
    let cases = cases().map_err(|error| error.to_string())?;
    let compared = |case: &Case| {
        let predictor = Predictor::new(compiler, case, profile.compute, without)
            .map_err(|error| format!("{}: {error}", case.name))?;
        let compare = |point: &Point| {
            let name = (&point.launch.kernel, &point.at, point.cache);
            let record = (*known.get(&name)?).clone();
            let role = role(&record, Some(case));
            let predicted =
                predictor.predict(profile, point).map_err(|error| format!("{} {}: {error}", name.0, name.1));
            Some(predicted.map(|(predicted_ns, bound)| Compared { record, predicted_ns, role, bound }))
        };
        let compared = case.points.iter().filter_map(compare).collect::<Result<Vec<_>, String>>()?;
        seen(&case.name);
        Ok(compared)
    };
    parallel::map(&cases, compared).map(|all| all.concat())
}

/// What was predicted elsewhere beside what was measured, as far as it was.
///
/// # Errors
/// A case of the suite that cannot be read.
pub fn compared(predicted: &[Record], measured: &[Record]) -> Result<Vec<Compared>, String> {
    let cases = cases().map_err(|error| error.to_string())?;
    let cases: HashMap<&str, &Case> = cases.iter().map(|case| (case.name.as_str(), case)).collect();
    let name = |record: &Record| (record.case.clone(), record.kernel.clone(), record.at.clone(), record.cache);
    let known: HashMap<_, &Record> = measured.iter().map(|record| (name(record), record)).collect();
    let compare = |predicted: &Record| {
        let record = Record::clone(known.get(&name(predicted))?);
        let role = role(&record, cases.get(record.case.as_str()).copied());
        Some(Compared { record, predicted_ns: predicted.ns, role, bound: None })
    };
    Ok(predicted.iter().filter_map(compare).collect())
}

/// The role of what was measured of a case of the suite, or of an exercise.
fn role(record: &Record, case: Option<&Case>) -> Role {
    match case {
        Some(case) if case.by_others => Role::ByOthers,
        _ if is_held_out(&record.key()) => Role::HeldOut,
        Some(case) if case.calibration => Role::Calibration,
        _ => Role::Fitted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cache;

    #[test]
    fn errors_are_shares_of_what_was_measured() {
        let point = |ns, predicted_ns| Compared {
            record: Record {
                case: String::new(),
                kernel: String::new(),
                at: String::new(),
                cache: Cache::Cold,
                ns,
                low: ns,
                high: ns,
            },
            predicted_ns,
            role: Role::Fitted,
            bound: None,
        };
        let points = [point(100.0, 90.0), point(100.0, 105.0), point(100.0, 100.0)];
        let errors = Errors::of(points.iter());
        assert_eq!((errors.points, errors.bias), (3, 0.0));
        assert!((errors.median - 0.05).abs() < 1e-9 && (errors.worst - 0.1).abs() < 1e-9, "{errors:?}");
        assert_eq!(Errors::of([].iter()), Errors::default());
        // Too few to say anything, and too far off.
        assert_eq!(Bar::missed(&points).len(), BARS.len());
        let of = |predicted_ns| vec![Compared { role: Role::Fitted, ..point(100.0, predicted_ns) }; 450];
        let missed = |predicted_ns| Bar::missed(&of(predicted_ns)).iter().any(|(bar, _)| bar.role == Role::Fitted);
        assert!(!missed(96.0) && missed(94.0) && missed(151.0));
    }
}
