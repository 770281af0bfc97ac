//! Rates of the clock from times that were measured.
//!
//! `fits.toml` says what each rate is read off. One after another they are set to where the clock's predictions of those points are
//! nearest to their times, and then all once more, as what a rate is depends a little on those that were fitted behind it.

use fusion_device::Compiler;
use fusion_machine::Profile;
use fusion_machine::timing::Rates;
use serde::Deserialize;

use crate::case::{Case, Point};
use crate::parallel;
use crate::predict::Predictor;
use crate::record::Record;

const FITS: &str = include_str!("../fits.toml");

/// What rates that were fitted call their source.
const SOURCE: &str = "calibration";

/// Candidates on either side of where a rate is thought to be.
const CANDIDATES: i32 = 4;
/// How far they are apart, as powers of two: first a rate may be anywhere, at last it is nearly known.
const FIRST: [f64; 2] = [0.5, 0.125];
const LAST: [f64; 1] = [0.0625];
/// And then nearer still, until no rate has moved by more than [`SETTLED`], a share of it, in a round: several are read off
/// the same kernels, and what one takes up, another gives back.
const NEARER: [f64; 1] = [0.03125];
const SETTLED: f64 = 0.005;
const MOST_ROUNDS: usize = 4;
/// What a rate pays for leaving its place, beside the square of the error: what points hardly tell shall not go where their noise does.
const STAY: f64 = 0.003;
/// Of a GPU that the profile is of already, a rate stays where predictions come no nearer to the times than this by
/// another: the square root of what the mean square of their errors loses. Two GPUs of one model differ by as much
/// (`measured/h200.csv` and the times of another H200: half of the points by 1%, one of ten by 3 to 6%), and half of
/// the clock's predictions are no nearer than this to what is measured. A simulation of a few waves of short blocks may
/// turn over for a rate that differs by a hundredth, so what need not move should not.
const ALIKE: f64 = 0.05;

/// What a rate is read off: points, each by its kernel and words of its sizes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fit {
    pub rate: String,
    pub points: Vec<String>,
}

/// A rate that was fitted.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    pub rate: String,
    pub before: f64,
    pub after: f64,
    /// What it was read off, and what is predicted of it, in nanoseconds, when all rates are fitted.
    pub points: Vec<(Record, f64)>,
}

/// Times, and what is to be fitted to them.
#[derive(Debug)]
pub struct Calibration {
    fits: Vec<(Fit, Vec<Target>)>,
    predictors: Vec<Predictor>,
}

/// A point that was timed.
#[derive(Debug)]
struct Target {
    /// Of its case.
    predictor: usize,
    point: Point,
    record: Record,
}

/// All fits, in their order.
///
/// # Errors
/// What is wrong with the file.
pub fn fits() -> Result<Vec<Fit>, String> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Fits {
        fit: Vec<Fit>,
    }
    toml::from_str::<Fits>(FITS).map(|fits| fits.fit).map_err(|error| format!("fits.toml: {error}"))
}

impl Fit {
    /// Whether the rate is read off this point.
    pub fn wants(&self, point: &Point) -> bool {
        let is = |word: &str| word == point.cache.to_string() || point.at.split(' ').any(|part| part == word);
        self.points.iter().any(|wanted| {
            let mut words = wanted.split(' ');
            words.next() == Some(&point.launch.kernel) && words.all(is)
        })
    }
}

impl Calibration {
    /// Compiles what is needed, and finds the times of each fit.
    ///
    /// # Errors
    /// What cannot be compiled, and points that nobody has timed.
    pub fn new(
        compiler: &Compiler,
        compute: (u32, u32),
        cases: &[Case],
        fits: Vec<Fit>,
        records: &[Record],
    ) -> Result<Self, String> {
        let wanted = |case: &&Case| case.points.iter().any(|point| fits.iter().any(|fit| fit.wants(point)));
        let cases: Vec<&Case> = cases.iter().filter(wanted).collect();
        let compiled = |case: &&Case| {
            Predictor::new(compiler, case, compute, None).map_err(|error| format!("{}: {error}", case.name))
        };
        let predictors = parallel::map(&cases, compiled)?;
        let points = || cases.iter().enumerate().flat_map(|(at, case)| case.points.iter().map(move |it| (at, it)));
        let target = |(predictor, point): (usize, &Point)| {
            let record = records.iter().find(|record| record.is_of(point));
            let record =
                record.cloned().ok_or_else(|| format!("{} {}: nobody timed it", point.launch.kernel, point.at))?;
            Ok(Target { predictor, point: point.clone(), record })
        };
        let with_targets = |fit: Fit| {
            let targets =
                points().filter(|(_, point)| fit.wants(point)).map(target).collect::<Result<Vec<_>, String>>()?;
            if targets.is_empty() {
                Err(format!("fits.toml: `{}` has no points", fit.rate))
            } else {
                Ok((fit, targets))
            }
        };
        let fits = fits.into_iter().map(with_targets).collect::<Result<_, _>>()?;
        Ok(Self { fits, predictors })
    }

    /// Fits the rates of a profile, beginning with those that it has. `seen` hears the name of each, every time. If the
    /// rates are `known`, because the profile is of the GPU that was timed, those stay that predict the times as well
    /// as others: then two calibrations of one GPU give the same rates, but for those that have to move.
    ///
    /// # Errors
    /// What cannot be predicted, and rates that there are not.
    pub fn run(&self, profile: &mut Profile, known: bool, seen: impl Fn(&str)) -> Result<Vec<Fitted>, String> {
        let from = profile.rates.clone();
        // Of a known GPU, the rates that its times contradict.
        let mut left: Vec<&String> = Vec::new();
        let nearer = std::iter::repeat_n(&NEARER[..], MOST_ROUNDS);
        for steps in [&FIRST[..], &LAST].into_iter().chain(nearer) {
            let mut moved: f64 = 0.0;
            for (fit, targets) in &self.fits {
                seen(&fit.rate);
                let before =
                    from.get(&fit.rate).ok_or_else(|| format!("fits.toml: there is no rate `{}`", fit.rate))?;
                let was = profile.rates.get(&fit.rate).unwrap_or(before);
                let error = |profile: &Profile, value| {
                    self.errors(profile, targets, &fit.rate, &[value]).map(|errors| errors[0])
                };
                // What had to move once does not come back.
                let may_stay = known && !left.contains(&&fit.rate);
                let stayed = may_stay.then(|| error(profile, before)).transpose()?;
                // Nothing can be nearer by so much than what is off by less.
                if stayed.is_some_and(|stayed| stayed <= ALIKE.powi(2)) {
                    continue;
                }
                let mut at = was;
                for step in steps {
                    at = self.nearest(profile, targets, (&fit.rate, before), at, *step)?;
                }
                let at = rounded(at);
                if let Some(stayed) = stayed {
                    if stayed <= error(profile, at)? + ALIKE.powi(2) {
                        continue;
                    }
                    left.push(&fit.rate);
                }
                moved = moved.max((at / was).ln().abs());
                profile.set_rate(&fit.rate, at, &format!("{SOURCE}: {}", fit.points.join(", ")));
            }
            if moved < SETTLED {
                break;
            }
        }
        let fitted = |(fit, targets): &(Fit, Vec<Target>)| {
            let predicted = parallel::map(targets, |target| self.predict(profile, target))?;
            Ok(Fitted {
                rate: fit.rate.clone(),
                before: from.get(&fit.rate).unwrap_or_default(),
                after: profile.rates.get(&fit.rate).unwrap_or_default(),
                points: targets.iter().map(|target| target.record.clone()).zip(predicted).collect(),
            })
        };
        self.fits.iter().map(fitted).collect()
    }

    /// Where predictions are nearest to the times, of some candidates and what is between them. `before` is what the rate was at first.
    fn nearest(
        &self,
        profile: &Profile,
        targets: &[Target],
        (rate, before): (&str, f64),
        at: f64,
        step: f64,
    ) -> Result<f64, String> {
        let (least, most) = Rates::bounds(rate).unwrap_or((at, at));
        let mut values: Vec<f64> =
            (-CANDIDATES..=CANDIDATES).map(|k| (at * (step * f64::from(k)).exp2()).clamp(least, most)).collect();
        values.dedup();
        let errors = self.errors(profile, targets, rate, &values)?;
        let cost = |(error, value): (f64, &f64)| error + STAY * (value / before).ln().powi(2);
        let costs: Vec<f64> = errors.into_iter().zip(&values).map(cost).collect();
        let best = (0..costs.len()).min_by(|&a, &b| costs[a].total_cmp(&costs[b])).unwrap_or_default();
        Ok(values[best] * (step * between(&costs, best)).exp2().clamp(least / values[best], most / values[best]))
    }

    /// The mean square of the errors, as logarithms, of what is predicted of `targets` with each of some values of a
    /// rate.
    fn errors(&self, profile: &Profile, targets: &[Target], rate: &str, values: &[f64]) -> Result<Vec<f64>, String> {
        let candidate = |&value: &f64| {
            let mut profile = profile.clone();
            profile.rates.set(rate, value);
            profile
        };
        let profiles: Vec<Profile> = values.iter().map(candidate).collect();
        let tasks: Vec<(&Profile, &Target)> =
            profiles.iter().flat_map(|profile| targets.iter().map(move |target| (profile, target))).collect();
        let error = |(profile, target): &(&Profile, &Target)| {
            self.predict(profile, target).map(|ns| (ns / target.record.ns).ln().powi(2))
        };
        let errors = parallel::map(&tasks, error)?;
        Ok(errors.chunks(targets.len()).map(|errors| errors.iter().sum::<f64>() / errors.len() as f64).collect())
    }

    fn predict(&self, profile: &Profile, target: &Target) -> Result<f64, String> {
        let Target { predictor, point, .. } = target;
        let named = |error: &dyn std::fmt::Display| format!("{} {}: {error}", point.launch.kernel, point.at);
        self.predictors[*predictor].predict(profile, point).map(|(ns, _)| ns).map_err(|error| named(&error))
    }
}

/// How many steps beside the best candidate the least cost is, as if costs lay on a parabola: at most half a one.
fn between(costs: &[f64], best: usize) -> f64 {
    let (Some(before), Some(after)) = (best.checked_sub(1).map(|i| costs[i]), costs.get(best + 1)) else { return 0.0 };
    let (slope, bend) = ((after - before) / 2.0, before + after - 2.0 * costs[best]);
    if bend > 0.0 { (-slope / bend).clamp(-0.5, 0.5) } else { 0.0 }
}

/// Four digits: more would say that more is known.
fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;

    #[test]
    fn every_fit_is_of_a_rate_and_has_points() {
        let cases = cases().unwrap();
        let calibration = cases.iter().filter(|case| case.calibration);
        let points: Vec<&Point> = calibration.flat_map(|case| &case.points).collect();
        for fit in fits().unwrap() {
            assert!(Rates::FIELDS.iter().any(|(name, _)| *name == fit.rate), "{}", fit.rate);
            for wanted in &fit.points {
                let one = Fit { points: vec![wanted.clone()], ..fit.clone() };
                assert!(points.iter().any(|point| one.wants(point)), "{}: no point is `{wanted}`", fit.rate);
            }
        }
    }

    #[test]
    fn the_least_of_a_parabola_is_found() {
        let costs: Vec<f64> = (0..5).map(|x| (f64::from(x) - 2.25).powi(2)).collect();
        assert!((between(&costs, 2) - 0.25).abs() < 1e-9);
        assert_eq!(between(&costs, 0), 0.0);
        assert_eq!(rounded(1234.567), 1235.0);
        assert_eq!(rounded(0.123456), 0.1235);
    }
}
