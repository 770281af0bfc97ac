//! The emulated device's verdict: what its clock says of launches as large as those that a GPU is timed with.
//!
//! Of each launch a few blocks are executed, on memory that repeats itself, so that size costs nothing. Blocks that go on by what others
//! do stand for nobody: such launches are executed whole, at the size at which bytes are counted.

use fusion_course::Shape;
use fusion_diagnostic::Bounded;

use super::measure::{Plan, conclude_contest};
use super::slowed::slowed_by;
use super::{Contest, Fast, bar, tflop_per_s, too_slow};
use crate::judgement::{Band, Interval, Part, Timing, Verdict};
use crate::profile::Predicted;
use crate::rig::{Rig, Who};
use crate::survey::Survey;
use crate::trial::Trial;
use crate::trouble::Trouble;

/// Predicts a submission beside the unfused chain at each large shape.
pub(super) fn predict(trial: &Trial<'_>, explained: bool) -> Result<Vec<Part<Fast>>, Trouble> {
    let large = trial.exercise().large(trial.size.unwrap_or(Plan::default().elements));
    let surveys = if explained { trial.surveys()? } else { &[] };
    let mut judged = Vec::new();
    for (index, counted) in trial.large() {
        let shape = large.get(index).copied().unwrap_or(counted);
        let survey = surveys.iter().find(|survey| survey.shape == counted);
        judged.push(judge(trial, [shape, counted], survey)?);
    }
    Ok(judged)
}

/// The verdict at one shape, or at a smaller one where no time follows from single blocks.
fn judge(trial: &Trial<'_>, [shape, small]: [Shape; 2], survey: Option<&Survey>) -> Result<Part<Fast>, Trouble> {
    let (exercise, info) = (trial.exercise(), &trial.session.info);
    let Times { shape, submission, unfused, rival } = Times::at(trial, shape, small)?;
    let band = Band::of(&info.name, Some(exercise.shapes));
    let bound = submission.as_ref().and_then(|own| own.bound(&info.name));
    let [submission, unfused, rival] = [submission, unfused, rival].map(|known| known.map(|known| known.ns));
    let timing = submission.zip(unfused).map(|(own, chain)| Timing::predicted(own, chain, band));
    let rival = exercise.rival.map(|known| Contest {
        name: known.name.to_owned(),
        bar: known.bar,
        timing: submission.zip(rival).map(|(own, other)| Timing::predicted(own, other, band)),
        note: None,
    });
    let fast = Fast {
        device: info.name.clone(),
        driver: info.driver.clone(),
        shape: shape.to_string(),
        bar: bar(exercise, shape),
        ideal: exercise.ideal_speedup(shape),
        gb_per_s: timing.as_ref().and_then(|timing| timing.gb_per_s(exercise.minimum_bytes(shape))),
        tflop_per_s: timing.as_ref().and_then(|timing| tflop_per_s(exercise, shape, timing)),
        timing: timing.clone(),
        cold: true,
        rival,
        bound: bound.as_ref().map(Bounded::to_string),
        ..Fast::default()
    };
    let Some(timing) = timing else {
        return Ok(Part::open(format!("the emulated device has no time for this launch: {SETTLE}")).with(fast));
    };
    let said = match timing.verdict(fast.bar) {
        Verdict::Pass => Part::pass(),
        Verdict::Fail => {
            let mut failure = too_slow(exercise, &fast, &timing);
            failure.notes.extend(bound.as_ref().map(|bound| format!("bound by {}", bound.what)));
            // What the launch is to blame for, lean has found.
            if let Some(survey) = survey.filter(|survey| survey.unused_shared(exercise).is_none()) {
                let next = bound.as_ref().and_then(|bound| bound.next.clone());
                failure.notes.push(slowed_by(exercise, survey, next));
            }
            Part::refused(failure.at(exercise.shapes.describe(shape)))
        }
        _ => Part::open(undecided(&timing, fast.bar)),
    };
    let said = match &fast.rival {
        Some(contest) => conclude_contest(said, exercise, contest),
        None => said,
    };
    Ok(said.with(fast))
}

/// What to do where a prediction says nothing.
const SETTLE: &str = "`--device gpu` settles it where there is a GPU; without one, inconclusive counts as done";

/// Why there is no verdict.
pub(super) fn undecided(timing: &Timing, bar: f64) -> String {
    let Interval { low, high, median } = timing.speedup().unwrap_or_default();
    format!(
        "{median:.2}x is predicted, which is between {low:.2}x and {high:.2}x on a GPU, and the bar of {bar:.2}x lies between them: \
         {SETTLE}; to pass without one, too, aim for {:.2}x here",
        bar * median / low
    )
}

/// As far as they are known.
struct Times {
    shape: Shape,
    submission: Option<Predicted>,
    unfused: Option<Predicted>,
    rival: Option<Predicted>,
}

impl Times {
    /// At a shape from single blocks, or else at a smaller one from whole launches.
    fn at(trial: &Trial<'_>, shape: Shape, small: Shape) -> Result<Self, Trouble> {
        trial.tell(format!("fast: predicting {shape}"));
        let mut rig = Rig::sampled(trial, shape)?;
        let all = Self::all(trial, shape, |who| rig.predict(who))?;
        if all.submission.is_some() {
            return Ok(all);
        }
        trial.tell(format!("fast: predicting {small}"));
        let mut rig = Rig::new(trial, small)?;
        Self::all(trial, small, |who| rig.time(who))
    }

    fn all(
        trial: &Trial<'_>,
        shape: Shape,
        mut time: impl FnMut(Who) -> Result<Option<Predicted>, Trouble>,
    ) -> Result<Self, Trouble> {
        let rival = trial.exercise().rival.map(|_| time(Who::Rival)).transpose()?.flatten();
        Ok(Self { shape, submission: time(Who::Submission)?, unfused: time(Who::Unfused)?, rival })
    }
}
