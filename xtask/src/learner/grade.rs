//! `cargo xtask grade`: build, judge each exercise in its own process, say what came of it.

#[cfg(target_os = "linux")]
mod class;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use fusion_grader::judgement::{
    DeviceInfo, DeviceKind, Failure, Judgement, Kind, Part, Parts, Report, RunError, VERSION, Verdict,
};
use fusion_grader::render;

use super::state::Recorder;
use crate::command::program;
use crate::device::{self, Device};
use crate::emulated::Emulated;
use crate::interrupt::{self, Interrupt};
use crate::judge::{self, Outcome, Stop, Task};
use crate::output;
use crate::parallel;
use crate::programs::{self, Programs};
use crate::progress::Progress;
use crate::target::{self, Selection};
use crate::{build, toolchain};

/// The command's options.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// Days (`day22`, `22`), exercises (`add_gelu`) or `all`, which is also what no target means
    #[arg(value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
    /// Grade the reference solutions instead of your answers
    #[arg(long)]
    pub(crate) solutions: bool,
    /// Grade code of people whom you do not trust: the answers in this folder, confined, with inputs that are drawn anew
    #[arg(long, value_name = "DIR", conflicts_with_all = ["solutions", "prebuilt"])]
    pub(crate) class: Option<PathBuf>,
    /// Where to run: `auto` takes a GPU when there is one; the emulated device always checks too
    #[arg(long, value_enum, default_value_t = Device::Auto)]
    pub(crate) device: Device,
    #[command(flatten)]
    pub(crate) emulated: Emulated,
    /// Seed of the inputs and of the sizes that are drawn [default: 1, with --class one that is drawn]
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Show everything that the emulated device noticed, on speed too, also where it explains no failure
    #[arg(long)]
    pub(crate) advice: bool,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
    /// Do not build: use the programs that lie beside this one
    #[arg(long, visible_alias = "no-build")]
    pub(crate) prebuilt: bool,
    /// Seconds that an exercise may take on one device [default: 120 emulated, 180 on a GPU]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) timeout: Option<u64>,
    /// Elements of the large problem [default: 2^22 for lean, 2^26 for fast]
    #[arg(long, value_name = "ELEMENTS", value_parser = at_least_one)]
    pub(crate) size: Option<usize>,
}

/// Workers that run at the same time. Each keeps little more than one core busy, and takes about 200 MB.
const MOST_WORKERS: usize = 8;

/// The seed of those who do not care.
const SEED: u64 = 1;

impl Options {
    pub(crate) fn kind(&self) -> Kind {
        if self.solutions { Kind::Solution } else { Kind::Exercise }
    }

    pub(crate) fn limit(&self, device: DeviceKind) -> Duration {
        Duration::from_secs(self.timeout.unwrap_or(match device {
            DeviceKind::Emulated => 120,
            DeviceKind::Gpu => 180,
        }))
    }
}

/// A count of elements that says something about speed.
fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("there is nothing to time in no elements".to_owned()),
        Ok(elements) => Ok(elements),
        Err(error) => Err(format!("{error}")),
    }
}

impl super::Run for Options {
    const LISTENS: bool = true;

    fn run(&self, interrupt: &Interrupt) -> u8 {
        run(self, interrupt)
    }
}

/// Grades and returns the exit code.
fn run(options: &Options, interrupt: &Interrupt) -> u8 {
    options.emulated.choose();
    let mut report = Report {
        version: VERSION,
        device: None,
        emulated: None,
        seed: options.seed.unwrap_or(SEED),
        class: None,
        exercises: Vec::new(),
        error: None,
        exit_code: 2,
    };
    let ended = match &options.class {
        Some(folder) => grade_class(options, folder, interrupt, &mut report),
        None => grade(options, interrupt, &mut report),
    };
    report.exit_code = Verdict::combine(report.exercises.iter().map(|judgement| judgement.verdict)).exit_code();
    match ended {
        Ok(()) => {}
        Err(Stop::Error(error)) if !interrupt.requested() => {
            report.error = Some(error);
            report.exit_code = 2;
        }
        // Whatever goes wrong after Ctrl-C goes wrong because of it.
        Err(_) => {
            report.error = Some(RunError::new("interrupted", "interrupted: only what was judged before is reported"));
            report.exit_code = interrupt::EXIT_CODE;
        }
    }
    // A verdict that could not be written is none.
    if tell(options, &report) { report.exit_code } else { 2 }
}

#[cfg(target_os = "linux")]
use class::grade as grade_class;

#[cfg(not(target_os = "linux"))]
fn grade_class(_: &Options, _: &std::path::Path, _: &Interrupt, _: &mut Report) -> Result<(), Stop> {
    let why = "--class is available on Linux only: elsewhere nothing here confines a program";
    Err(Stop::Error(RunError::new("not-contained", why)))
}

fn grade(options: &Options, interrupt: &Interrupt, report: &mut Report) -> Result<(), Stop> {
    let selections = target::resolve(&options.targets, fusion_course::days()).map_err(|unknown| {
        let error = RunError::new("unknown-target", unknown.to_string());
        Stop::Error(RunError { nearest: unknown.nearest, ..error })
    })?;
    let kind = options.kind();
    let packages: Vec<String> = selections.iter().map(|s| programs::package(kind, s.day.number)).collect();
    toolchain::ready().map_err(Stop::Error)?;
    let recorder = Mutex::new(Recorder::begin(kind, &selections));
    let programs = Programs::get(&packages, options.prebuilt, interrupt).map_err(Stop::Error)?;
    let gpu = device::gpu(options.device, &programs, interrupt)?;
    let mut days: Vec<Vec<Job>> = selections.iter().map(jobs_of).collect();
    let exercises: usize = days.iter().map(Vec::len).sum();
    let progress = Progress::new(exercises * if gpu.is_some() { 2 } else { 1 });
    let grader = Grader { options, programs: &programs, gpu: gpu.is_some(), interrupt, progress: &progress };
    // Without a GPU no day has to wait for another.
    if gpu.is_none() {
        days = vec![days.concat()];
    }
    let record = |judgement: &Judgement| recorder.lock().unwrap_or_else(PoisonError::into_inner).add(judgement);
    for jobs in days {
        let (judged, stopped) = parallel::until_error(jobs.len(), MOST_WORKERS, |index| {
            let outcome = grader.judged(jobs[index], DeviceKind::Emulated)?;
            // At once: whatever happens later loses no verdict.
            if gpu.is_none() {
                record(&outcome.judgement);
            }
            Ok(outcome)
        });
        // Nothing else may run beside what a GPU times, so there one exercise comes after the other.
        for (index, outcome) in judged {
            let judgement = if gpu.is_none() {
                report.device = outcome.device.or(report.device.take());
                outcome.judgement
            } else if stopped.is_some() {
                continue;
            } else {
                report.emulated = outcome.device.or(report.emulated.take());
                let (judgement, device) = grader.timed(jobs[index], outcome.judgement)?;
                report.device = device.or(report.device.take());
                record(&judgement);
                judgement
            };
            report.exercises.push(judgement);
        }
        if let Some(stop) = stopped {
            return Err(stop);
        }
    }
    Ok(())
}

/// An exercise that is to be graded, and its day.
type Job = (u32, &'static str);

fn jobs_of(selection: &Selection) -> Vec<Job> {
    selection.exercises.iter().map(|exercise| (selection.day.number, exercise.name)).collect()
}

/// What judging needs beside an exercise.
struct Grader<'a> {
    options: &'a Options,
    programs: &'a Programs,
    /// Whether a GPU judges, too.
    gpu: bool,
    interrupt: &'a Interrupt,
    progress: &'a Progress,
}

impl Grader<'_> {
    fn program(&self, day: u32) -> Option<&Path> {
        self.programs.paths.get(&programs::package(self.options.kind(), day)).map(PathBuf::as_path)
    }

    /// What this device says, or why there is no program to judge.
    fn judged(&self, (day, exercise): Job, device: DeviceKind) -> Result<Outcome, Stop> {
        let kind = self.options.kind();
        let Some(program) = self.program(day) else {
            let errors = build::by_exercise(&self.programs.errors, &programs::package(kind, day));
            let blank = Judgement { name: exercise.to_owned(), day, kind, ..Judgement::default() };
            self.progress.step();
            return Ok(Outcome { judgement: unbuilt(blank, &errors), device: None });
        };
        let task = Task {
            program,
            root: self.programs.root.as_deref(),
            kind,
            top: false,
            day,
            exercise,
            device,
            parts: Parts::wanted(device, !self.gpu),
            seed: self.options.seed.unwrap_or(SEED),
            size: self.options.size,
            limit: self.options.limit(device),
        };
        let outcome = judge::judge(&task, self.interrupt, self.progress)?;
        self.progress.step();
        Ok(outcome)
    }

    /// What the emulated device said, with what the GPU says.
    fn timed(&self, job: Job, mut emulated: Judgement) -> Result<(Judgement, Option<DeviceInfo>), Stop> {
        let built = self.program(job.0).is_some();
        if built && emulated.parts.right.verdict != Verdict::Fail {
            let measured = self.judged(job, DeviceKind::Gpu)?;
            return Ok((Judgement::merge(emulated, measured.judgement), measured.device));
        }
        if built {
            // A kernel that is wrong here would only poison the GPU's context too.
            emulated.parts.leave_gpu_out("not judged on the GPU until it is right on the emulated device");
        }
        self.progress.step();
        Ok((emulated, None))
    }
}

/// The judgement of an exercise whose package did not compile, by whose errors they are. All files of a day are one program.
fn unbuilt(mut judgement: Judgement, errors: &BTreeMap<&str, Failure>) -> Judgement {
    if let Some(failure) = errors.get(judgement.name.as_str()) {
        return judgement.refused(failure.clone());
    }
    let name = &judgement.name;
    let why = match errors.first_key_value() {
        Some((other, failure)) => {
            let of_other = Judgement { name: (*other).to_owned(), day: judgement.day, ..Judgement::default() };
            let place = render::next(&of_other.refused(failure.clone())).unwrap_or_default();
            let message = render::failure(failure, &[], render::Look::default());
            judgement.elsewhere = Some(place.clone());
            format!("`{name}` waits for {place}, which does not compile: a day is one program\n\n{message}")
        }
        None => format!("`{name}` waits for the day's program, which does not compile; see the errors above"),
    };
    judgement.parts.right = Part::ungraded(why);
    judgement.conclude()
}

/// Prints the report and returns whether that succeeded.
fn tell(options: &Options, report: &Report) -> bool {
    if options.json {
        return output::json(serde_json::to_string_pretty(report));
    }
    let look = render::Look { advice: options.advice, ..output::look() };
    let again = if options.solutions { Again::Solutions } else { Again::Answer };
    let printed = output::print(&text(report, again, look));
    if let Some(error) = &report.error {
        output::note(&format!("error: {}", error.message));
    }
    printed
}

/// What grades an exercise again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Again {
    /// The command.
    Answer,
    /// The command, of the solutions.
    Solutions,
    /// `watch`, when a file is saved.
    Saving,
}

/// The report, and what to do next.
pub(super) fn text(report: &Report, again: Again, look: render::Look) -> String {
    let mut text = render::report(report, look);
    if !report.exercises.is_empty() {
        text += &format!("\n{}\n", next(again, report));
    }
    text
}

/// The line below the table: how it stands, and the next command.
fn next(again: Again, report: &Report) -> String {
    let count = |verdict| report.exercises.iter().filter(|judgement| judgement.verdict == verdict).count();
    let total = report.exercises.len();
    let mut line = format!("{} of {total} passed", count(Verdict::Pass));
    for (verdict, word) in
        [(Verdict::Fail, "failed"), (Verdict::Inconclusive, "inconclusive"), (Verdict::Ungraded, "could not be graded")]
    {
        if count(verdict) > 0 {
            line += &format!(", {} {word}", count(verdict));
        }
    }
    line.push('.');
    if let Some(class) = &report.class {
        return line + &format!("\nThe answers in {} were confined ({}).", class.folder, class.contained);
    }
    let first_with = |wanted: fn(Verdict) -> bool| report.exercises.iter().find(|judgement| wanted(judgement.verdict));
    let failed = first_with(|verdict| verdict == Verdict::Fail);
    let Some(first) = failed.or_else(|| first_with(|verdict| verdict != Verdict::Pass)) else {
        return match report.exercises.last() {
            Some(last) if again != Again::Solutions => format!("{line}\n{}", after(last, total > 1)),
            _ => line,
        };
    };
    if again == Again::Solutions {
        return line + &format!("\nThen: {} grade {} --solutions", program(), first.name);
    }
    line += &render::next(first).map(|place| format!("\nNext: {place}")).unwrap_or_default();
    line += &match again {
        Again::Saving => "\nThen: save the file, and it is graded again".to_owned(),
        Again::Answer | Again::Solutions => format!("\nThen: {} grade {}", program(), first.name),
    };
    // What is right and may be fast enough needs no hint.
    let inconclusive = first.verdict == Verdict::Inconclusive;
    let (question, command) = if inconclusive { ("What bounds it?", "profile") } else { ("Stuck?", "hint") };
    line + &format!("\n{question} {} {command} {}", program(), first.name)
}

/// What comes after an exercise that passed: the day's next one, or what is left to do when there is none.
fn after(passed: &Judgement, many: bool) -> String {
    let days = fusion_course::days();
    let day = days.iter().find(|day| day.number == passed.day);
    let mut rest = day.into_iter().flat_map(|day| day.exercises).skip_while(|exercise| exercise.name != passed.name);
    let next = match rest.nth(1) {
        Some(next) => format!("{} grade {}", program(), next.name),
        // `next` names one of another day, or says that all are done.
        None if many => {
            format!("compare with the solutions in solutions/day{}/src\nThen: {} next", passed.day, program())
        }
        None => format!("compare with the solution: {0} diff {1}\nThen: {0} next", program(), passed.name),
    };
    let timed = if many { format!("day{}", passed.day) } else { passed.name.clone() };
    let explained = format!("What did your kernel become? {} explain {}", program(), passed.name);
    format!("Next: {next}\n{explained}\nHow fast, at which size? {} bench {timed}", program())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fusion_grader::judgement::{Code, Location};

    #[test]
    fn a_package_that_does_not_compile_fails_the_exercise_with_the_error_only() {
        let failure = Failure::new(Code::Compile, "no");
        let failure = Failure { location: Some(Location::new("a/src/mine.rs", 7, 5, "")), ..failure };
        let errors = BTreeMap::from([("mine", failure)]);
        let named = |name: &str| Judgement { name: name.to_owned(), ..Judgement::default() };
        assert_eq!(unbuilt(named("mine"), &errors).verdict, Verdict::Fail);
        // The others of its day say where it is, and send the learner there.
        let other = unbuilt(named("other"), &errors);
        assert_eq!((other.verdict, render::next(&other).as_deref()), (Verdict::Ungraded, Some("a/src/mine.rs:7")));
        let note = other.parts.right.note.clone().unwrap_or_default();
        assert_eq!(
            note,
            "`other` waits for a/src/mine.rs:7, which does not compile: a day is one program\n\nerror[compile]: no\n--> a/src/mine.rs:7:5"
        );
        assert_eq!(render::next(&unbuilt(named("other"), &BTreeMap::new())), None);
    }
}
