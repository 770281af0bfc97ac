//! Samples: each must get the verdict that is known.

use std::collections::VecDeque;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use fusion_course::{Exercise, Sample};
use fusion_grader::judgement::{Code, DeviceKind, Judgement, Kind, Parts, Verdict};
use fusion_grader::protocol::SampleName;
use fusion_grader::render;

use super::Tally;
use crate::interrupt::Interrupt;
use crate::judge::{self, Stop};
use crate::output;
use crate::process::{End, Watch};
use crate::progress::Progress;
use crate::target::Selection;

/// What it takes to judge the samples of a day.
#[derive(Debug)]
pub(crate) struct Judge<'a> {
    pub(crate) program: &'a Path,
    /// Every sample that it has.
    pub(crate) all: &'a [SampleName],
    pub(crate) seed: u64,
    pub(crate) limit: Duration,
    pub(crate) interrupt: &'a Interrupt,
    pub(crate) progress: &'a Progress,
}

impl Judge<'_> {
    /// Judges every sample of the selected exercises: many in one process, a new one after each that takes its
    /// process or its context with it.
    pub(crate) fn day(&self, selection: &Selection, tally: &mut Tally) -> Result<(), Stop> {
        for exercise in &selection.exercises {
            let own = self.all.iter().filter(|sample| sample.exercise == exercise.name);
            // Of what a beginner writes nothing is asked but that it is right.
            let (natural, others): (VecDeque<_>, VecDeque<_>) = own.partition(|sample| sample.verdict == Sample::RIGHT);
            if !others.iter().any(|sample| Sample::refuses(&sample.verdict)) {
                tally.problem(format!("{} has no wrong kernels", exercise.name));
            }
            // How fast an unusual answer is, it may choose: what is unusual may be slow.
            let (unusual, wrong): (VecDeque<_>, VecDeque<_>) =
                others.into_iter().partition(|sample| sample.verdict == Sample::PASS);
            let size = Some(super::counted_at(exercise));
            // What is refused for its results or its bytes does not get as far as *fast*, which judges at the sizes
            // that its bars stand for.
            let (timed, wrong): (VecDeque<_>, VecDeque<_>) =
                wrong.into_iter().partition(|sample| is_timed(&sample.verdict));
            self.samples(exercise, wrong, Parts::NAMES, size, tally)?;
            self.samples(exercise, timed, Parts::NAMES, None, tally)?;
            self.samples(exercise, unusual, &Parts::wanted(DeviceKind::Emulated, false), size, tally)?;
            self.samples(exercise, natural, &["right"], None, tally)?;
            self.progress.step();
        }
        Ok(())
    }

    fn samples(
        &self,
        exercise: &Exercise,
        mut left: VecDeque<&SampleName>,
        parts: &[&str],
        size: Option<usize>,
        tally: &mut Tally,
    ) -> Result<(), Stop> {
        let &Judge { program, seed, limit, interrupt, progress, .. } = self;
        let watch = Watch { limit, interrupt };
        while !left.is_empty() {
            let mut command = Command::new(program);
            command.args(["judge", "--exercise", exercise.name, "--device", "emulated"]);
            command.args(["--seed", &seed.to_string(), "--parts", &parts.join(",")]);
            command.args(size.iter().flat_map(|size| ["--size".to_owned(), size.to_string()]));
            for sample in &left {
                command.args(["--sample", &sample.name]);
            }
            let (told, end) = judge::attend(&mut command, exercise.name, &watch, progress)?;
            for (_, judgement) in &told.judged {
                if let Some(sample) = left.pop_front() {
                    count(sample, judgement, tally);
                }
            }
            // The process ended in the middle of one, which is that one's judgement.
            if (told.judged.is_empty() || !matches!(end, End::Exited(_)))
                && let Some(sample) = left.pop_front()
            {
                let blank = Judgement {
                    name: exercise.name.to_owned(),
                    day: exercise.day,
                    kind: Kind::Sample,
                    sample: Some(sample.name.clone()),
                    ..Judgement::default()
                };
                count(sample, &blank.refused(judge::death(end, limit, &told.doing, &[])), tally);
            }
        }
        Ok(())
    }
}

/// Whether a kernel with such a verdict is right and lean.
fn is_timed(verdict: &str) -> bool {
    verdict == Code::Speed.to_string() || verdict.starts_with(WARNING)
}

/// How the verdict of a kernel begins that passes with a warning.
const WARNING: &str = "warning ";

fn count(sample: &SampleName, judgement: &Judgement, tally: &mut Tally) {
    let SampleName { exercise, name, verdict } = sample;
    let (right, known) = match (judgement.failure(), verdict.as_str()) {
        (_, Sample::PASS) => (is_right_and_lean(judgement), &mut tally.unusual),
        (_, Sample::RIGHT) => (judgement.parts.right.verdict == Verdict::Pass, &mut tally.natural),
        (Some(failure), _) => {
            (agrees(failure.code, &failure.reason(), verdict), tally.refused.entry(verdict.clone()).or_default())
        }
        // What is slow must not pass; a prediction may leave it open.
        (None, _) if *verdict == Code::Speed.to_string() => {
            (judgement.verdict == Verdict::Inconclusive, tally.refused.entry(verdict.clone()).or_default())
        }
        (None, _) => (warned(judgement, verdict), tally.refused.entry(verdict.clone()).or_default()),
    };
    if right {
        *known += 1;
        return;
    }
    let given = match judgement.failure() {
        Some(failure) => format!("refused for `{}`", failure.reason()),
        None => format!("judged `{}`", judgement.verdict),
    };
    let must = match verdict.as_str() {
        Sample::PASS => "must pass".to_owned(),
        Sample::RIGHT => "its results must be right".to_owned(),
        verdict => format!("its entry says `{verdict}`"),
    };
    tally.problem(format!("{exercise}/{name} is {given}; {must}\n{}", render::details(judgement, output::look())));
}

/// Whether those parts pass that are asked of an unusual answer, and of one whose prediction has the bar in its band.
pub(super) fn is_right_and_lean(judgement: &Judgement) -> bool {
    let asked = Parts::wanted(DeviceKind::Emulated, false);
    let mut parts = judgement.parts.views().filter(|part| asked.contains(&part.name));
    parts.all(|part| part.verdict == Verdict::Pass)
}

/// Whether a kernel passes with the stated warning.
fn warned(judgement: &Judgement, stated: &str) -> bool {
    let code = stated.strip_prefix(WARNING);
    let mut advice = judgement.parts.views().flat_map(|part| part.advice);
    judgement.verdict == Verdict::Pass && advice.any(|found| Some(found.code.as_str()) == code)
}

/// Whether a kernel is refused for the stated reason. `tail` is a finer word for `values` and `unwritten`: it says
/// where.
fn agrees(code: Code, reason: &str, stated: &str) -> bool {
    reason == stated || (code == Code::Tail && matches!(stated, "values" | "unwritten"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_is_a_finer_word() {
        assert!(agrees(Code::Values, "values", "values"));
        assert!(agrees(Code::Tail, "tail", "unwritten"));
        assert!(agrees(Code::Fault, "fault E-OOB-GLOBAL", "fault E-OOB-GLOBAL"));
        assert!(!agrees(Code::Fault, "fault E-MISALIGNED", "fault E-OOB-GLOBAL"));
        assert!(!agrees(Code::Values, "values", "unwritten"));
        assert!(!agrees(Code::Values, "values", ""));
    }
}
