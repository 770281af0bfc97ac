//! `cargo xtask verify`: the course's promise to its learners, as one command.
//!
//! Every starter fails (and compiles), every solution passes, every wrong kernel is refused for the reason that its
//! entry states, solving an exercise changes nothing outside of its TODO regions, and of the systematic wrong versions of the
//! solutions (mutants) nearly all are refused.

mod mutants;
mod score;
mod tally;
mod wrong;

use std::path::{Path, PathBuf};
use std::time::Duration;

use fusion_course::drift;
use fusion_grader::judgement::{Code, DeviceKind, Judgement, Kind, Parts, Verdict};
use fusion_grader::render;

use crate::interrupt::{self, Interrupt};
use crate::judge::{self, Stop, Task};
use crate::programs::{self, Programs};
use crate::progress::Progress;
use crate::target::{self, Selection};
use crate::{output, parallel, toolchain};
use tally::Tally;

/// The command's options.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// Days, exercises or `all`, which is also what no target means
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,
    /// Seed of the inputs and of the sizes that are drawn
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Do not build: use the programs that lie beside this one
    #[arg(long, visible_alias = "no-build")]
    prebuilt: bool,
    /// Seconds that one submission may take
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    timeout: u64,
    /// Judge mutants of the solutions and nothing else
    #[arg(long, conflicts_with = "no_mutants")]
    mutants: bool,
    /// Judge everything but mutants
    #[arg(long)]
    no_mutants: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Verifies and returns the exit code.
pub(crate) fn run(options: &Options, interrupt: &Interrupt) -> u8 {
    let mut tally = Tally { only_mutants: options.mutants, ..Tally::default() };
    let ended = verify(options, interrupt, &mut tally);
    if ended.is_ok() {
        tally.check_score();
    }
    let printed = output::print(&text(options, &tally));
    match ended {
        Ok(()) if !printed => 2,
        Ok(()) => u8::from(!tally.problems.is_empty()),
        Err(Stop::Error(error)) if !interrupt.requested() => {
            output::note(&format!("error: {}", error.message));
            2
        }
        Err(_) => {
            output::note("error: interrupted: the rest was not verified");
            interrupt::EXIT_CODE
        }
    }
}

fn text(options: &Options, tally: &Tally) -> String {
    if !options.json {
        return tally.to_string();
    }
    // A tally is made of names and numbers, which JSON has.
    serde_json::to_string_pretty(tally).map(|json| json + "\n").unwrap_or_default()
}

fn verify(options: &Options, interrupt: &Interrupt, tally: &mut Tally) -> Result<(), Stop> {
    let selections = target::resolve(&options.targets, fusion_course::days()).map_err(|unknown| {
        Stop::Error(fusion_grader::judgement::RunError::new("unknown-target", unknown.to_string()))
    })?;
    let packages: Vec<String> = selections
        .iter()
        .flat_map(|s| {
            let kinds: &[Kind] = if options.mutants { &[Kind::Solution] } else { &[Kind::Exercise, Kind::Solution] };
            kinds.iter().map(|&kind| programs::package(kind, s.day.number))
        })
        .collect();
    toolchain::ready().map_err(Stop::Error)?;
    let programs = Programs::get(&packages, options.prebuilt, interrupt).map_err(Stop::Error)?;
    for error in &programs.errors {
        let judgement = Judgement { name: error.package.clone(), ..Judgement::default() };
        let judgement = judgement.refused(error.failure.clone());
        tally.problem(render::details(&judgement, output::look()));
    }
    let exercises: usize = selections.iter().map(|selection| selection.exercises.len()).sum();
    let steps = if options.mutants { 1 } else { 3 + usize::from(!options.no_mutants) };
    let progress = Progress::new(steps * exercises);
    let limit = Duration::from_secs(options.timeout);
    let judge = Judge { programs: &programs, seed: options.seed, limit, interrupt, progress: &progress };
    if !options.no_mutants {
        for selection in &selections {
            judge.mutants(selection, tally)?;
        }
    }
    if options.mutants {
        return Ok(());
    }
    // One exercise keeps little more than one core busy: most of the time goes into compiling and into small launches.
    let alone = |selection: &Selection| {
        let day = selection.day;
        selection.exercises.clone().into_iter().map(move |exercise| Selection { day, exercises: vec![exercise] })
    };
    // The last exercises take longest, and should not be begun last.
    let each: Vec<Selection> = selections.iter().flat_map(alone).rev().collect();
    let tallies = parallel::each(each.len(), |index| {
        let mut tally = Tally::default();
        judge.submissions(&each[index], &mut tally)?;
        Ok(tally)
    })?;
    tallies.into_iter().rev().for_each(|other| tally.add(other));
    Ok(())
}

/// What all judging needs.
struct Judge<'a> {
    programs: &'a Programs,
    seed: u64,
    limit: Duration,
    interrupt: &'a Interrupt,
    progress: &'a Progress,
}

impl Judge<'_> {
    fn program(&self, kind: Kind, day: u32) -> Option<&Path> {
        self.programs.paths.get(&programs::package(kind, day)).map(PathBuf::as_path)
    }

    /// The starter, the solution and the wrong kernels of each exercise.
    fn submissions(&self, selection: &Selection, tally: &mut Tally) -> Result<(), Stop> {
        if let Some(root) = &self.programs.root {
            check_drift(root, selection, tally);
        }
        self.all(Kind::Exercise, selection, tally)?;
        self.all(Kind::Solution, selection, tally)?;
        let Some(program) = self.program(Kind::Wrong, selection.day.number) else { return Ok(()) };
        wrong::judge(program, selection, self.seed, self.limit, self.interrupt, self.progress, tally)
    }

    fn mutants(&self, selection: &Selection, tally: &mut Tally) -> Result<(), Stop> {
        let program = self.program(Kind::Solution, selection.day.number);
        let (Some(root), Some(program)) = (&self.programs.root, program) else {
            output::note("mutants are not judged: they are made from sources, which are in the workspace");
            return Ok(());
        };
        let &Judge { seed, limit, interrupt, progress, .. } = self;
        mutants::Judge { root, program, seed, limit, interrupt, progress }.day(selection, tally)
    }

    fn all(&self, kind: Kind, selection: &Selection, tally: &mut Tally) -> Result<(), Stop> {
        let Some(program) = self.program(kind, selection.day.number) else { return Ok(()) };
        for exercise in &selection.exercises {
            let task = Task {
                program,
                root: self.programs.root.as_deref(),
                kind,
                day: selection.day.number,
                exercise: exercise.name,
                device: DeviceKind::Emulated,
                parts: Parts::wanted(DeviceKind::Emulated, true),
                seed: self.seed,
                size: None,
                limit: self.limit,
            };
            let judgement = judge::judge(&task, self.interrupt, self.progress)?.judgement;
            self.progress.step();
            match kind {
                Kind::Exercise => match starter_problem(&judgement) {
                    None => tally.starters += 1,
                    Some(problem) => tally.problem(format!(
                        "the starter of {} {problem}\n{}",
                        exercise.name,
                        render::details(&judgement, output::look())
                    )),
                },
                Kind::Solution | Kind::Wrong if judgement.verdict == Verdict::Pass => tally.solutions += 1,
                Kind::Solution | Kind::Wrong => tally.problem(format!(
                    "the solution of {} does not pass\n{}",
                    exercise.name,
                    render::details(&judgement, output::look())
                )),
            }
        }
        Ok(())
    }
}

/// A starter compiles, runs, and gives wrong results: anything else is no place to start from.
fn starter_problem(judgement: &Judgement) -> Option<String> {
    match judgement.parts.right.failure.as_ref().map(|failure| failure.code) {
        Some(Code::Values | Code::Unwritten | Code::Tail) => None,
        Some(code) => {
            Some(format!("fails for the reason `{code}`, where wrong results are what a starter should have"))
        }
        None => Some(format!("is judged `{}`, where it should fail", judgement.parts.right.verdict)),
    }
}

fn check_drift(root: &Path, selection: &Selection, tally: &mut Tally) {
    for exercise in &selection.exercises {
        for extension in ["cu", "rs"] {
            let read = |folder: &str| {
                let path = format!("{folder}/day{}/src/{}.{extension}", selection.day.number, exercise.name);
                std::fs::read_to_string(root.join(&path)).map_err(|error| format!("cannot read {path}: {error}"))
            };
            let checked = read("exercises")
                .and_then(|starter| drift::check(&starter, &read("solutions")?).map_err(|drift| drift.to_string()));
            match checked {
                Ok(()) => tally.drift += 1,
                Err(problem) => tally.problem(format!("{}.{extension}: {problem}", exercise.name)),
            }
        }
    }
}
