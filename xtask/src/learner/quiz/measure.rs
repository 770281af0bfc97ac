//! What only a device can say: how much faster the solution is, and what bounds it. Predicted, by the clock of the emulated one.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use fusion_course::Exercise;
use fusion_grader::judgement::Kind;
use fusion_grader::profile::{Launch, Profiled};
use fusion_machine::report::account::{Bound, Cause};
use fusion_machine::report::{Account, Busy};

use super::question::{Answer, Question};
use crate::interrupt::Interrupt;
use crate::judge::Stop;
use crate::learner::profile::attend;
use crate::process::Watch;
use crate::programs::{self, Programs};
use crate::progress::Progress;
use crate::toolchain;

/// So long a profile may take.
const LIMIT: Duration = Duration::from_secs(120);

/// A guess before one has measured is good when it is nearer than this.
const WITHIN: f64 = 0.15;

/// The questions on the solution of an exercise, or why there are none.
pub(super) fn questions(exercise: &Exercise, prebuilt: bool, interrupt: &Interrupt) -> Result<Vec<Question>, String> {
    let package = programs::package(Kind::Solution, exercise.day);
    toolchain::ready().map_err(|error| error.message)?;
    let programs = Programs::get(std::slice::from_ref(&package), prebuilt, interrupt).map_err(|error| error.message)?;
    let program = programs.paths.get(&package).ok_or_else(|| format!("`{package}` does not compile"))?;
    let progress = Progress::new(2);
    let ask = |rung: Option<&str>| {
        let mut command = Command::new(program);
        command.args(["profile", "--exercise", exercise.name, "--device", "emulated", "--seed", "1"]);
        command.args(rung.iter().flat_map(|rung| ["--rung", rung]));
        command.current_dir(programs.root.as_deref().unwrap_or(Path::new(".")));
        let found = attend(&mut command, exercise.name, &Watch { limit: LIMIT, interrupt }, &progress);
        progress.step();
        match found {
            Ok(found) => found,
            Err(Stop::Interrupted) => Err("interrupted".to_owned()),
            Err(Stop::Error(error)) => Err(error.message),
        }
    };
    let (device, solution) = ask(None)?;
    let (_, unfused) = ask(Some("unfused"))?;
    Ok(of(exercise, &device.name, &solution, &unfused))
}

fn of(exercise: &Exercise, device: &str, solution: &Profiled, unfused: &Profiled) -> Vec<Question> {
    let gpu = device.trim_start_matches("Emulated ");
    let right = unfused.predicted.ns / solution.predicted.ns;
    let [chain, fused] = [unfused, solution].map(|it| crate::learner::microseconds(it.predicted.ns));
    // A chain may lose more than by its bytes, and a solution win less.
    let why = longest(unfused).map(|(launch, account)| {
        let bound = fusion_diagnostic::bound(account, gpu).what;
        format!(" Of the chain, {} takes longest. It is bound by {bound}.", launch.kernel)
    });
    let mut questions = vec![Question {
        id: format!("{}/speedup", exercise.name),
        ask: format!(
            "The emulated {gpu} predicts times. At {}, how many times as fast as the chain is the solution? Within 15% counts.",
            solution.shape
        ),
        answer: Answer::Number { right, within: WITHIN },
        because: format!("{right:.2}, predicted: {chain} us and {fused} us.{}", why.unwrap_or_default()),
    }];
    if let Some((launch, account)) = longest(solution) {
        questions.push(Question {
            id: format!("{}/bound", exercise.name),
            ask: format!("What does the time of the solution's launch, {}, mostly go into?", launch.kernel),
            answer: Answer::Choice { options: REASONS.to_vec(), right: reason(account.bound()) },
            because: format!("By the clock that predicts it: {}.", fusion_diagnostic::bound(account, gpu)),
        });
    }
    questions
}

/// The launch that takes longest, where the clock has an account of it.
fn longest(profiled: &Profiled) -> Option<(&Launch, &Account)> {
    let launch = profiled.predicted.launches.iter().max_by(|one, other| one.ns.total_cmp(&other.ns))?;
    Some((launch, launch.account.as_deref()?))
}

/// What a launch may be bound by, as far as a question tells it apart.
const REASONS: [&str; 6] = [
    "memory's bandwidth: it is used nearly all the time",
    "L2, or the way from it to the SMs",
    "instructions: issuing and computing",
    "waiting for memory: too few bytes are on their way",
    "waiting within blocks: barriers, shared memory, shuffles",
    "launching, and SMs without work",
];

/// The one of [`REASONS`] that it is.
fn reason(bound: Bound) -> usize {
    match bound {
        Bound::Busy(Busy::Dram, _) => 0,
        Bound::Busy(Busy::L2 | Busy::Port | Busy::Atomics, _) => 1,
        Bound::Busy(
            Busy::Issue | Busy::Fma | Busy::Alu | Busy::Special | Busy::Double | Busy::Tensor | Busy::Lsu,
            _,
        )
        | Bound::Warps(Cause::Instructions, _) => 2,
        Bound::Warps(Cause::Memory, _) => 3,
        Bound::Warps(Cause::Shared | Cause::Barriers | Cause::Fences, _) => 4,
        Bound::Overhead(_) | Bound::Dispatch(_) | Bound::Tail(_) | Bound::Warps(Cause::Starting, _) => 5,
    }
}

#[cfg(test)]
mod tests {
    use super::super::question::Given;
    use super::*;
    use fusion_grader::profile::Predicted;

    fn profiled(ns: f64, busy: Busy) -> Profiled {
        let account = Account { busy: [(busy, 0.9)].into(), ..Account::default() };
        let launch = Launch { kernel: "it".to_owned(), ns, account: Some(Box::new(account)), ..Launch::default() };
        let predicted = Predicted { ns, launches: vec![launch], ..Predicted::default() };
        Profiled { shape: "N = 5".to_owned(), predicted, ..Profiled::default() }
    }

    #[test]
    fn answers_are_what_the_clock_says() {
        let exercise = fusion_course::find("mul_add").unwrap();
        let questions = of(exercise, "Emulated T4", &profiled(200.0, Busy::Dram), &profiled(300.0, Busy::Issue));
        assert!(questions[0].ask.starts_with("The emulated T4 predicts times. At N = 5, "), "{}", questions[0].ask);
        assert!(
            questions[0].because.starts_with("1.50, predicted: 0.300 us and 0.200 us. Of the chain, it takes longest.")
        );
        let judged = ["1.3", "1.7", "1.2", "two"].map(|given| questions[0].judge(given));
        assert_eq!(judged, [Given::Right, Given::Right, Given::Wrong, Given::Unclear]);
        let judged = ["a", "f", "g"].map(|given| questions[1].judge(given));
        assert_eq!(judged, [Given::Right, Given::Wrong, Given::Unclear]);
        assert!(questions[1].because.starts_with("By the clock that predicts it: memory's bandwidth, "));
    }
}
