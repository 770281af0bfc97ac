//! `cargo xtask verify`: the course's promise to its learners, as one command.
//!
//! Every starter fails (and compiles), every solution, every rung of a ladder and every unusual answer passes, every wrong kernel is
//! refused for the reason that its entry states, solving an exercise changes nothing outside of its TODO regions, and of the systematic
//! wrong versions (mutants) of the solutions and of the top rungs nearly all are refused.

mod mutants;
mod samples;
mod score;
mod tally;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use fusion_course::{Exercise, drift};
use fusion_grader::judgement::{Code, DeviceKind, Judgement, Kind, Parts, Verdict};
use fusion_grader::protocol::{Message, SampleName};
use fusion_grader::render;

use super::new;
use crate::interrupt::{self, Interrupt};
use crate::judge::{self, Stop, Task};
use crate::process::{self, End, Said, Watch};
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
    /// Judge at most so many mutants of a kernel, evenly spread over it; all if this is not given
    #[arg(long, value_name = "COUNT", conflicts_with = "no_mutants")]
    most_mutants: Option<usize>,
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
    tally.is_cut_short = ended.is_err();
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
    let limit = Duration::from_secs(options.timeout);
    let listed = listed(&selections, &programs, &Watch { limit, interrupt })?;
    let exercises: usize = selections.iter().map(|selection| selection.exercises.len()).sum();
    let tops: usize = listed.values().map(|listed| listed.top.len()).sum();
    // A starter and the samples; solutions and top rungs, themselves and their mutants.
    let steps = if options.mutants { 0 } else { 2 * exercises + exercises + tops };
    let progress = Progress::new(steps + if options.no_mutants { 0 } else { exercises + tops });
    let judge = Judge {
        programs: &programs,
        listed: &listed,
        most_mutants: options.most_mutants,
        seed: options.seed,
        limit,
        interrupt,
        progress: &progress,
    };
    if !options.no_mutants {
        judge.mutants(&selections, tally)?;
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
    /// What the days' solutions come with.
    listed: &'a BTreeMap<u32, Listed>,
    most_mutants: Option<usize>,
    seed: u64,
    limit: Duration,
    interrupt: &'a Interrupt,
    progress: &'a Progress,
}

impl Judge<'_> {
    fn program(&self, kind: Kind, day: u32) -> Option<&Path> {
        self.programs.paths.get(&programs::package(kind, day)).map(PathBuf::as_path)
    }

    /// What comes with the solutions of a day; nothing where they could not be built.
    fn listed(&self, day: u32) -> &Listed {
        const NOTHING: &Listed = &Listed { top: Vec::new(), samples: Vec::new() };
        self.listed.get(&day).unwrap_or(NOTHING)
    }

    /// The starter, the solution, the top rung and the samples of each exercise.
    fn submissions(&self, selection: &Selection, tally: &mut Tally) -> Result<(), Stop> {
        if let Some(root) = &self.programs.root {
            check_drift(root, selection, tally);
        }
        let day = selection.day.number;
        let Listed { top, samples } = self.listed(day);
        for exercise in &selection.exercises {
            self.answer(Answer::Starter, day, exercise.name, tally)?;
            self.answer(Answer::Solution, day, exercise.name, tally)?;
            if top.iter().any(|name| name == exercise.name) {
                self.answer(Answer::Top, day, exercise.name, tally)?;
            }
            if !exercise.ladder.is_empty() {
                self.rungs(day, exercise, tally)?;
            }
        }
        let Some(program) = self.program(Kind::Sample, day) else { return Ok(()) };
        let &Judge { seed, limit, interrupt, progress, .. } = self;
        samples::Judge { program, all: samples, seed, limit, interrupt, progress }.day(selection, tally)
    }

    fn mutants(&self, selections: &[Selection], tally: &mut Tally) -> Result<(), Stop> {
        let Some(root) = &self.programs.root else {
            output::note("mutants are not judged: they are made from sources, which are in the workspace");
            return Ok(());
        };
        let mut originals = Vec::new();
        for Selection { day, exercises } in selections {
            let day = day.number;
            let Some(program) = self.program(Kind::Solution, day) else { continue };
            for exercise in exercises.iter().map(|exercise| exercise.name) {
                originals.push(mutants::Original { day, exercise, top: false, program });
                if self.listed(day).top.iter().any(|name| name == exercise) {
                    originals.push(mutants::Original { day, exercise, top: true, program });
                }
            }
        }
        let &Judge { most_mutants: most, seed, limit, interrupt, progress, .. } = self;
        mutants::Judge { root, most, seed, limit, interrupt, progress }.all(&originals, tally)
    }

    fn answer(&self, answer: Answer, day: u32, exercise: &str, tally: &mut Tally) -> Result<(), Stop> {
        let kind = if answer == Answer::Starter { Kind::Exercise } else { Kind::Solution };
        let Some(program) = self.program(kind, day) else { return Ok(()) };
        let task = Task {
            program,
            root: self.programs.root.as_deref(),
            kind,
            top: answer == Answer::Top,
            day,
            exercise,
            device: DeviceKind::Emulated,
            parts: Parts::wanted(DeviceKind::Emulated, true),
            seed: self.seed,
            size: None,
            limit: self.limit,
        };
        let judgement = judge::judge(&task, self.interrupt, self.progress)?.judgement;
        self.progress.step();
        // A prediction may have the bar in its band: what a GPU says of speed, `grade` on one shows.
        let passes = || match judgement.verdict {
            Verdict::Pass => None,
            Verdict::Inconclusive if samples::is_right_and_lean(&judgement) => None,
            _ => Some("does not pass".to_owned()),
        };
        let (what, problem, count) = match answer {
            Answer::Starter => ("starter", starter_problem(&judgement), &mut tally.starters),
            Answer::Solution => ("solution", passes(), &mut tally.solutions),
            Answer::Top => ("top rung", passes(), &mut tally.tops),
        };
        match problem {
            None => *count += 1,
            Some(problem) => tally.problem(format!(
                "the {what} of {exercise} {problem}\n{}",
                render::details(&judgement, output::look())
            )),
        }
        Ok(())
    }

    /// The rungs of an exercise's ladder below its top.
    fn rungs(&self, day: u32, exercise: &Exercise, tally: &mut Tally) -> Result<(), Stop> {
        let Some(program) = self.program(Kind::Solution, day) else { return Ok(()) };
        let parts = Parts::wanted(DeviceKind::Emulated, false);
        let mut command = Command::new(program);
        command.args(["judge", "--exercise", exercise.name, "--device", "emulated", "--rungs"]);
        command.args(["--parts", &parts.join(","), "--seed", &self.seed.to_string()]);
        command.args(["--size", &counted_at(exercise).to_string()]);
        let watch = Watch { limit: self.limit, interrupt: self.interrupt };
        let (told, _) = judge::attend(&mut command, exercise.name, &watch, self.progress)?;
        for (_, judgement) in &told.judged {
            // How fast a rung is, the book says: the first ones are slow.
            let passes = judgement
                .parts
                .views()
                .filter(|part| parts.contains(&part.name))
                .all(|part| part.verdict == Verdict::Pass);
            match passes {
                true => tally.rungs += 1,
                false => tally.problem(format!(
                    "the rung {} does not pass\n{}",
                    judgement.name,
                    render::details(judgement, output::look())
                )),
            }
        }
        if told.judged.len() < exercise.ladder.len() {
            let (judged, all) = (told.judged.len(), exercise.ladder.len());
            tally.problem(format!("{}: {judged} of {all} rungs were judged: {}", exercise.name, told.doing));
        }
        Ok(())
    }
}

/// Elements at which bytes are counted of rungs, unusual answers, and wrong kernels that are not refused for their
/// speed. Bytes per element hardly change with the size, and there are hundreds of them: solutions and top rungs are
/// counted at the size at which a learner's answer is.
fn counted_at(exercise: &Exercise) -> usize {
    const ENOUGH: usize = 1 << 20;
    exercise.surveyed.min(ENOUGH)
}

/// What an exercise's folders hold that is no sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Starter,
    Solution,
    Top,
}

/// What a program of solutions comes with.
#[derive(Debug, Default)]
struct Listed {
    /// The exercises with a top rung.
    top: Vec<String>,
    samples: Vec<SampleName>,
}

/// Asks the solutions of each day what they come with: of what is selected.
fn listed(selections: &[Selection], programs: &Programs, watch: &Watch<'_>) -> Result<BTreeMap<u32, Listed>, Stop> {
    let mut all = BTreeMap::new();
    for Selection { day, exercises } in selections {
        let Some(program) = programs.paths.get(&programs::package(Kind::Solution, day.number)) else { continue };
        let selected = |name: &str| exercises.iter().any(|exercise| exercise.name == name);
        let mut listed = Listed::default();
        let end = process::run(Command::new(program).arg("list"), watch, |said| {
            if let Said::Message(message) = said
                && let Message::Listed { mut top, mut samples, .. } = *message
            {
                top.retain(|name| selected(name));
                samples.retain(|sample| selected(&sample.exercise));
                listed = Listed { top, samples };
            }
        });
        if end.map_err(|error| judge::cannot_run(program, &error))? == End::Interrupted {
            return Err(Stop::Interrupted);
        }
        all.insert(day.number, listed);
    }
    Ok(all)
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
        let places = new::unfinished(root, exercise.day, exercise.name);
        if !places.is_empty() {
            tally.problem(format!("{} is still to be filled in:\n  {}", exercise.name, places.join("\n  ")));
        }
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
            check_starter(root, exercise, extension, tally);
        }
    }
}

/// In the course's own tree nothing has been answered: what is to be edited is what `reset` brings back.
fn check_starter(root: &Path, exercise: &Exercise, extension: &str, tally: &mut Tally) {
    let folder = format!("exercises/day{}", exercise.day);
    let path = |of: &str| format!("{folder}/{of}/{}.{extension}", exercise.name);
    let (edited, starter) = (path("src"), path("starter"));
    let [left, right] = [&edited, &starter].map(|path| std::fs::read_to_string(root.join(path)).ok());
    if left != right {
        tally.problem(format!("{starter} differs from {edited}, of which it is a copy: cp {edited} {starter}"));
    }
}
