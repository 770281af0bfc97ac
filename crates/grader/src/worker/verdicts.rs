//! The verdict *fast* on everything of an exercise that can be launched as an answer: whether it is the same with and without a GPU.
//!
//! That its results are right is not asked here: what is wrong takes its time, too.

use std::process::ExitCode;

use fusion_course::{Entry, Exercise, Sample, Shape, Submission};
use fusion_device::EmulatorOptions;

use super::judge::{tell, unable};
use super::measure::{at, is_safe};
use super::{VerdictsOptions, find, rungs};
use crate::fast::{self, Fast, Plan};
use crate::judgement::{Code, DeviceKind, Part, RunError, Verdict};
use crate::protocol::{Message, OPENING, SPENT};
use crate::right::Scope;
use crate::session::{BUDGET, Session, within};
use crate::trial::Trial;
use crate::trouble::Trouble;
use crate::verdicts::{Ratio, Ruling};

pub(super) fn run(options: &VerdictsOptions, submission: &Submission, top: &[Entry], samples: &[Sample]) -> ExitCode {
    let name = &options.exercise;
    let Some(entry) = find(&submission.entries, name) else {
        return unable(RunError::new("unknown-target", format!("this program has no `{name}`")));
    };
    tell(OPENING.to_owned());
    let answers = answers(entry, find(top, name), samples);
    let judged = judge(options.device.into(), &answers, |answer, rulings| match rulings {
        Ok(rulings) => rulings.iter().for_each(|ruling| Message::Measured { record: ruling.to_string() }.send()),
        Err(why) => {
            Message::Untimed { shape: None, note: format!("{} {}: {why}", answer.kind, answer.name) }.send();
        }
    });
    match judged {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(SPENT),
        Err(error) => unable(error),
    }
}

/// What the emulated device predicts of one in so many of a day's answers whose verdict was measured: for tests, which it leaves without a
/// device of their own.
///
/// # Errors
/// There is no device, or no compiler.
pub fn predicted(
    submission: &Submission,
    top: &[Entry],
    samples: &[Sample],
    measured: &[Ruling],
    one_in: usize,
) -> Result<Vec<Ruling>, RunError> {
    let all = submission.entries.iter().flat_map(|entry| answers(entry, find(top, entry.exercise.name), samples));
    let known = all.filter(|answer| measured.iter().any(|ruling| answer.is_of(ruling)));
    let mut predicted = Vec::new();
    judge(DeviceKind::Emulated, &known.step_by(one_in).collect::<Vec<_>>(), |_, rulings| {
        predicted.extend(rulings.unwrap_or_default());
    })?;
    Ok(predicted)
}

/// Judges one answer after the other, and returns whether the device has outlived them. What is told of one is its verdicts, or why
/// there are none.
fn judge(
    device: DeviceKind,
    answers: &[Answer<'_>],
    mut told: impl FnMut(&Answer<'_>, Result<Vec<Ruling>, String>),
) -> Result<bool, RunError> {
    let mut session = Session::open_with(device, false, within(BUDGET))?;
    for answer in answers {
        tell(format!("judging {} {}", answer.kind, answer.name));
        let rulings = answer.judge(&session).map_err(|trouble| match trouble {
            Trouble::Unable(why) => why,
            Trouble::Failure(failure) => failure.title.clone(),
        });
        told(answer, rulings);
        if session.is_spent() {
            // Only the emulated device is as good as new in the same process.
            if !session.is_emulated() {
                return Ok(false);
            }
            drop(session);
            session = Session::open_with(device, false, EmulatorOptions::default())?;
        }
    }
    Ok(true)
}

/// Something that can be launched as an answer.
struct Answer<'a> {
    kind: &'static str,
    name: &'a str,
    entry: Entry,
    /// The shapes that it is for, if not all.
    only: Option<Vec<Shape>>,
}

fn answers<'a>(solution: &Entry, top: Option<&Entry>, samples: &'a [Sample]) -> Vec<Answer<'a>> {
    let exercise = solution.exercise;
    let all = |kind, name, entry: &Entry| Answer { kind, name, entry: entry.clone(), only: None };
    let mut answers = vec![all("solution", "", solution)];
    answers.extend(top.map(|entry| all("top", "", entry)));
    let counted = exercise.large(exercise.surveyed);
    answers.extend(exercise.ladder.iter().enumerate().map(|(index, rung)| {
        let only = Some(rungs::stands_for(exercise, index, &counted));
        Answer { kind: "rung", name: rung.step.kernel, entry: rungs::entry(exercise, rung), only }
    }));
    let own = samples.iter().filter(|sample| sample.entry.exercise.name == exercise.name && is_safe(sample));
    answers.extend(own.map(|sample| all(sample.kind(), sample.name, &sample.entry)));
    answers
}

impl Answer<'_> {
    /// Whether a verdict is one on this answer.
    fn is_of(&self, ruling: &Ruling) -> bool {
        ruling.key()[..3] == [self.entry.exercise.name, self.kind, self.name]
    }

    fn judge(&self, session: &Session) -> Result<Vec<Ruling>, Trouble> {
        let program = session.compile(&self.entry)?;
        let scope = Scope { unverified: true, only: self.only.as_deref(), ..Scope::EXERCISE };
        let trial = Trial::new(session, &self.entry, &program, 1, &tell).within(scope, None);
        let judged = fast::at_each_shape(&trial, false)?;
        let exercise = trial.exercise();
        // As large as a GPU has it, also where no time follows from single blocks.
        let large = exercise.large(Plan::default().elements);
        let shapes = trial.large().into_iter().filter_map(|(index, _)| large.get(index));
        Ok(shapes.zip(&judged).map(|(shape, part)| self.ruling(exercise, *shape, part)).collect())
    }

    fn ruling(&self, exercise: &Exercise, shape: Shape, part: &Part<Fast>) -> Ruling {
        let fast = part.evidence.as_ref();
        let chain = fast.and_then(|fast| Some(Ratio { speedup: fast.timing.as_ref()?.speedup()?, bar: fast.bar }));
        let rival = fast.and_then(|fast| fast.rival.as_ref());
        let rival = rival.and_then(|rival| Some(Ratio { speedup: rival.timing.as_ref()?.speedup()?, bar: rival.bar }));
        // What is refused for anything else was not judged by its speed.
        let other = part.failure.as_ref().is_some_and(|failure| failure.code != Code::Speed);
        Ruling {
            exercise: exercise.name.to_owned(),
            kind: self.kind.to_owned(),
            name: self.name.to_owned(),
            at: at(exercise, shape),
            chain,
            rival,
            verdict: if other { Verdict::Ungraded } else { part.verdict },
        }
    }
}
