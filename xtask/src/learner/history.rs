//! `cargo xtask history`: what was tried, and what came of it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use fusion_course::Exercise;
use fusion_grader::judgement::{Parts, Verdict};
use fusion_grader::render::{self, Look};

use super::choice::{Learner, tell};
use super::state::Attempt;
use super::{json, list};
use crate::interrupt::Interrupt;
use crate::output;
use crate::target::{self, Selection};

/// The command's options.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// Days or exercises; all without one
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,
    /// Show no more than the last N attempts at an exercise
    #[arg(long, value_name = "N", default_value_t = 20)]
    last: usize,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

impl super::Run for Options {
    fn run(&self, _interrupt: &Interrupt) -> u8 {
        let said = Learner::find().and_then(|learner| {
            let found = target::resolve(&self.targets, fusion_course::days()).map_err(|error| error.to_string())?;
            Ok((learner, found))
        });
        if self.json {
            return json::tell(said.and_then(|(learner, found)| {
                let tried = exercises(&found).filter_map(|exercise| Tried::of(&learner, exercise, self.last)).collect();
                serde_json::to_value(History { exercises: tried }).map_err(|error| error.to_string())
            }));
        }
        tell(said.map(|(learner, found)| {
            let texts: Vec<String> =
                exercises(&found).filter_map(|exercise| of(&learner, exercise, self.last, output::look())).collect();
            if texts.is_empty() { "nothing was graded yet\n".to_owned() } else { texts.join("\n") }
        }))
    }
}

fn exercises(selections: &[Selection]) -> impl Iterator<Item = &'static Exercise> {
    selections.iter().flat_map(|selection| &selection.exercises).copied()
}

/// What `--json` prints.
#[derive(Debug, serde::Serialize)]
struct History<'a> {
    exercises: Vec<Tried<'a>>,
}

#[derive(Debug, serde::Serialize)]
struct Tried<'a> {
    name: &'static str,
    day: u32,
    attempts: Vec<&'a Attempt>,
    best: Option<&'a Attempt>,
    /// The folder in which its files are kept.
    best_files: Option<PathBuf>,
}

impl<'a> Tried<'a> {
    /// Nothing where there are no attempts.
    fn of(learner: &'a Learner, exercise: &Exercise, last: usize) -> Option<Self> {
        let all: Vec<&Attempt> = learner.attempts.of(exercise).collect();
        let best = learner.attempts.best(exercise);
        let attempts = all[all.len().saturating_sub(last)..].to_vec();
        let best_files = best.filter(|best| best.files.is_some()).map(|_| learner.state.best(exercise));
        (!all.is_empty()).then_some(Self { name: exercise.name, day: exercise.day, attempts, best, best_files })
    }
}

/// The attempts at one exercise; nothing where there are none.
fn of(learner: &Learner, exercise: &Exercise, last: usize, look: Look) -> Option<String> {
    let attempts: Vec<&Attempt> = learner.attempts.of(exercise).collect();
    let best = learner.attempts.best(exercise);
    let mut table = render::blank(["", "when (UTC)", "verdict", "first error", "bytes moved", "time", "speedup"], look);
    for attempt in &attempts[attempts.len().saturating_sub(last)..] {
        let is_best = best.is_some_and(|best| std::ptr::eq(best, *attempt));
        table.add_row([
            if is_best { "best" } else { "" }.to_owned(),
            attempt.when.get(..16).unwrap_or(&attempt.when).replace('T', " "),
            verdict(attempt),
            attempt.error.clone().unwrap_or_default(),
            attempt.bytes.as_ref().map(|bytes| moved(bytes.count.yours, bytes.count.needed)).unwrap_or_default(),
            attempt.speed.as_ref().map(|speed| list::time(&speed.timing)).unwrap_or_default(),
            attempt.speed.as_ref().and_then(speedup).unwrap_or_default(),
        ]);
    }
    let mut text =
        format!("{}: {} (day {})\n\n{}\n", exercise.name, exercise.definition, exercise.day, table.trim_fmt());
    text += &conditions(&attempts);
    if best.is_some_and(|best| best.files.is_some()) {
        text += &format!("The best is kept in {}.\n", learner.state.best(exercise).display());
    }
    (!attempts.is_empty()).then_some(text)
}

/// The verdict, and of one that is not a pass the parts that passed.
fn verdict(attempt: &Attempt) -> String {
    let passed = |name: &&&str| attempt.parts.get(**name) == Some(&Verdict::Pass);
    let parts: Vec<&str> = Parts::NAMES.iter().filter(passed).copied().collect();
    match attempt.verdict {
        Verdict::Pass => attempt.verdict.to_string(),
        _ if parts.is_empty() => attempt.verdict.to_string(),
        _ => format!("{} ({})", attempt.verdict, parts.join(", ")),
    }
}

/// Bytes beside those that must be moved.
fn moved(yours: u64, needed: u64) -> String {
    let more = match needed {
        0 => String::new(),
        _ => format!(", {:.2}x of what is needed", yours as f64 / needed as f64),
    };
    format!("{:.1} MB{more}", yours as f64 / 1e6)
}

fn speedup(speed: &super::state::Speed) -> Option<String> {
    speed.timing.figures().speedup.map(|ratio| format!("{ratio:.2}x"))
}

/// On which devices and at which shapes times were taken: only those of one kind are compared.
fn conditions(attempts: &[&Attempt]) -> String {
    let mut found: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for speed in attempts.iter().filter_map(|attempt| attempt.speed.as_ref()) {
        *found.entry((&speed.device, &speed.shape)).or_default() += 1;
    }
    let all: Vec<String> = found.keys().map(|(device, shape)| format!("{shape} on {device}")).collect();
    if all.is_empty() { String::new() } else { format!("Times: {}.\n", all.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_stand_beside_those_that_must_be_moved() {
        assert_eq!(moved(100_663_296, 67_108_864), "100.7 MB, 1.50x of what is needed");
        assert_eq!(moved(0, 0), "0.0 MB");
    }
}
