//! Wrong kernels: each must be refused, for the reason that its entry states.

use std::collections::VecDeque;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use fusion_grader::judgement::{Code, Judgement, Kind, Verdict};
use fusion_grader::protocol::WrongName;
use fusion_grader::render;

use super::Tally;
use crate::interrupt::Interrupt;
use crate::judge::{self, Stop, Told};
use crate::output;
use crate::process::{self, End, Said, Watch};
use crate::progress::Progress;
use crate::target::Selection;

/// What it takes to judge the wrong kernels of a day.
#[derive(Debug)]
pub(crate) struct Judge<'a> {
    pub(crate) program: &'a Path,
    /// Every wrong kernel that it has.
    pub(crate) all: &'a [WrongName],
    pub(crate) seed: u64,
    pub(crate) limit: Duration,
    pub(crate) interrupt: &'a Interrupt,
    pub(crate) progress: &'a Progress,
}

impl Judge<'_> {
    /// Judges every wrong kernel of the selected exercises: many in one process, a new one after each that takes its
    /// process or its context with it.
    pub(crate) fn day(&self, selection: &Selection, tally: &mut Tally) -> Result<(), Stop> {
        let &Judge { program, all, seed, limit, interrupt, progress } = self;
        let watch = Watch { limit, interrupt };
        for exercise in &selection.exercises {
            let mut left: VecDeque<&WrongName> = all.iter().filter(|wrong| wrong.exercise == exercise.name).collect();
            if left.is_empty() {
                tally.problem(format!("{} has no wrong kernels", exercise.name));
            }
            while !left.is_empty() {
                let mut command = Command::new(program);
                command.args(["judge", "--exercise", exercise.name, "--device", "emulated"]);
                command.args(["--seed", &seed.to_string()]);
                for wrong in &left {
                    command.args(["--wrong", &wrong.name]);
                }
                let mut told = Told::default();
                let end = process::run(&mut command, &watch, |said| {
                    // Wrong kernels may print and complain as they like.
                    if let Said::Message(_) = said {
                        told.hear(said, exercise.name, progress);
                    }
                });
                let end = end.map_err(|error| judge::cannot_run(program, &error))?;
                if end == End::Interrupted {
                    return Err(Stop::Interrupted);
                }
                if let Some(error) = told.unable {
                    return Err(Stop::Error(error));
                }
                for (_, judgement) in &told.judged {
                    if let Some(wrong) = left.pop_front() {
                        count(wrong, judgement, tally);
                    }
                }
                // The process ended in the middle of one, which is that one's judgement.
                if (told.judged.is_empty() || !matches!(end, End::Exited(_)))
                    && let Some(wrong) = left.pop_front()
                {
                    let blank = Judgement {
                        name: exercise.name.to_owned(),
                        day: exercise.day,
                        kind: Kind::Wrong,
                        wrong: Some(wrong.name.clone()),
                        ..Judgement::default()
                    };
                    count(wrong, &blank.refused(judge::death(end, limit, &told.doing, &[])), tally);
                }
            }
            progress.step();
        }
        Ok(())
    }
}

fn count(wrong: &WrongName, judgement: &Judgement, tally: &mut Tally) {
    match judgement.failure() {
        Some(failure) if agrees(failure.code, &failure.reason(), &wrong.reason) => {
            *tally.refused.entry(wrong.reason.clone()).or_default() += 1;
        }
        None if warned(judgement, &wrong.reason) => *tally.refused.entry(wrong.reason.clone()).or_default() += 1,
        Some(failure) => tally.problem(format!(
            "{}/{} is refused for `{}`; its entry says `{}`\n{}",
            wrong.exercise,
            wrong.name,
            failure.reason(),
            wrong.reason,
            render::details(judgement, output::look())
        )),
        None => tally.problem(format!(
            "{}/{} is judged `{}`; its entry says `{}`\n{}",
            wrong.exercise,
            wrong.name,
            judgement.verdict,
            wrong.reason,
            render::details(judgement, output::look())
        )),
    }
}

/// Whether a kernel passes with the stated warning.
fn warned(judgement: &Judgement, stated: &str) -> bool {
    let code = stated.strip_prefix("warning ");
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
