//! `cargo xtask measure`: times everything of the workspace that can be launched alone, on a GPU, for the clock of the emulated device
//! to be compared with.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use fusion_course::Exercise;
use fusion_device::Choice;
use fusion_grader::judgement::{Kind, RunError};
use fusion_grader::protocol::Message;
use fusion_timings::{Record, Stopwatch, cases};

use super::verdicts;
use crate::interrupt::{self, Interrupt};
use crate::judge::{self, Stop, cannot_run};
use crate::process::{self, End, Said, Watch};
use crate::programs::{self, Programs};
use crate::progress::Progress;
use crate::{date, output, parallel, target, toolchain};

/// The command's options.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Exit codes: 0 all was timed, 1 something was left out, 2 could not run.")]
pub(crate) struct Options {
    /// Where the times go, a line each
    #[arg(long, value_name = "FILE", required_unless_present = "suite")]
    out: Option<PathBuf>,
    /// Measure verdicts instead: *fast* on everything that can be launched as an answer
    #[arg(long, requires = "out")]
    verdicts: bool,
    /// Days or exercises to measure; if none is named, all of them, and of times the suite of kernels, too
    targets: Vec<String>,
    /// Do not build: use the programs that lie beside this one
    #[arg(long, visible_alias = "no-build")]
    prebuilt: bool,
    /// Time the suite of kernels in this process and print the lines
    #[arg(long, hide = true)]
    suite: bool,
}

/// What the numbers of a line are.
const COLUMNS: &str = "file,kernel,at,L2 before the launch,median ns,lower quartile,upper quartile";

/// For one exercise at one size, or one kernel of the suite.
const LIMIT: Duration = Duration::from_secs(120);

/// Runs and returns the exit code.
pub(crate) fn run(options: &Options, interrupt: &Interrupt) -> u8 {
    let told = if options.suite { suite() } else { measure(options, interrupt) };
    match told {
        Ok(complete) => u8::from(!complete),
        Err(Stop::Interrupted) => interrupt::EXIT_CODE,
        Err(Stop::Error(error)) => {
            output::note(&format!("error: {}", error.message));
            2
        }
    }
}

/// Times all, and returns whether nothing was left out.
fn measure(options: &Options, interrupt: &Interrupt) -> Result<bool, Stop> {
    let Some(path) = &options.out else { return Err(failed("--out is missing")) };
    toolchain::ready().map_err(Stop::Error)?;
    let unwritten = |error: std::io::Error| failed(&format!("cannot write {}: {error}", path.display()));
    let mut file = File::create(path).map_err(unwritten)?;
    let mut write = |line: &str| writeln!(file, "{line}").map_err(unwritten);
    if options.verdicts {
        return verdicts::measure(&options.targets, options.prebuilt, interrupt, &mut write);
    }
    let complete = !options.targets.is_empty() || time_suite(&mut write)?;
    Ok(exercises(&options.targets, options.prebuilt, interrupt, write)? && complete)
}

/// Has the solutions' programs time exercises on a GPU, one after another, and returns whether nothing was left out.
fn exercises(
    targets: &[String],
    prebuilt: bool,
    interrupt: &Interrupt,
    mut write: impl FnMut(&str) -> Result<(), Stop>,
) -> Result<bool, Stop> {
    let chosen = target::resolve(targets, fusion_course::days()).map_err(|unknown| failed(&unknown.to_string()))?;
    let exercises: Vec<&Exercise> = chosen.iter().flat_map(|selection| selection.exercises.clone()).collect();
    let programs = workers(&exercises, prebuilt, interrupt)?;
    // The suite says where the times are from, if it is timed.
    if !targets.is_empty() {
        write(&origin(&programs, &format!("measure {}", targets.join(" ")), COLUMNS, interrupt)?)?;
    }
    let progress = Progress::new(exercises.len());
    let mut complete = true;
    for exercise in exercises {
        complete &= ask(&programs, exercise, (Choice::Gpu, 1), &progress, interrupt, &mut write)?;
        progress.step();
    }
    Ok(complete)
}

/// The first lines of a file that these programs measure: command, GPU, driver and day, and what the numbers of a line are.
pub(super) fn origin(programs: &Programs, command: &str, columns: &str, interrupt: &Interrupt) -> Result<String, Stop> {
    let Some(program) = programs.paths.values().next() else { return Err(failed("there is nothing to measure")) };
    let gpu = judge::probe(program, interrupt)?.map_err(|why| failed(&why))?;
    let (name, driver, today) = (gpu.name, gpu.driver, date::today());
    Ok(format!("# cargo xtask {command}, on one {name}, driver for CUDA {driver}, {today}\n# {columns}"))
}

/// The programs of the solutions of these exercises.
fn workers(exercises: &[&Exercise], prebuilt: bool, interrupt: &Interrupt) -> Result<Programs, Stop> {
    let packages: BTreeSet<String> = exercises.iter().map(|exercise| package(exercise)).collect();
    let packages: Vec<String> = packages.into_iter().collect();
    Programs::get(&packages, prebuilt, interrupt).map_err(Stop::Error)
}

fn package(exercise: &Exercise) -> String {
    programs::package(Kind::Solution, exercise.day)
}

/// What the emulated device's clock predicts at one in so many of the shapes of these exercises. Each exercise is a
/// process of its own, on as many cores as there are.
pub(super) fn predict(
    exercises: &[&Exercise],
    one_in: usize,
    prebuilt: bool,
    interrupt: &Interrupt,
) -> Result<Vec<Record>, Stop> {
    let programs = workers(exercises, prebuilt, interrupt)?;
    let progress = Progress::new(exercises.len());
    let one = |index: usize| {
        let Some(exercise) = exercises.get(index) else { return Ok(Vec::new()) };
        let mut records: Vec<Record> = Vec::new();
        ask(&programs, exercise, (Choice::Emulated, one_in), &progress, interrupt, |line| {
            records.push(line.parse().map_err(|why: String| failed(&why))?);
            Ok(())
        })?;
        progress.step();
        Ok(records)
    };
    Ok(parallel::each(exercises.len(), one)?.concat())
}

/// Has a program time what belongs to an exercise at one in so many of its shapes, and returns whether nothing was left
/// out.
fn ask(
    programs: &Programs,
    exercise: &Exercise,
    (device, one_in): (Choice, usize),
    progress: &Progress,
    interrupt: &Interrupt,
    mut write: impl FnMut(&str) -> Result<(), Stop>,
) -> Result<bool, Stop> {
    let package = package(exercise);
    let Some(program) = programs.paths.get(&package) else {
        return Err(failed(&format!("`{package}` does not compile")));
    };
    let mut command = Command::new(program);
    command.args(["measure", "--device", name(device), "--exercise", exercise.name]);
    command.args(["--one-in", &one_in.to_string()]);
    if let Some(root) = &programs.root {
        command.current_dir(root);
    }
    let (mut written, mut unable) = (Ok(()), None);
    let end = process::run(&mut command, &Watch { limit: LIMIT, interrupt }, |said| match said {
        Said::Message(message) => match *message {
            Message::Measured { record } if written.is_ok() => written = write(&record),
            Message::Progress { text } => progress.say(format!("{package}: {text}")),
            Message::Unable { error } => unable = Some(error),
            _ => {}
        },
        Said::Printed(line) | Said::Complained(line) => progress.note(&format!("{package}: {line}")),
    });
    written?;
    let complete = match end.map_err(|error| cannot_run(program, &error))? {
        End::Interrupted => return Err(Stop::Interrupted),
        End::Exited(0) => true,
        end => {
            progress.note(&format!("{package}: ended with {end:?}"));
            false
        }
    };
    unable.map_or(Ok(complete), |error| Err(Stop::Error(error)))
}

/// Has a process of its own time the suite: this one may open no device.
fn time_suite(write: &mut impl FnMut(&str) -> Result<(), Stop>) -> Result<bool, Stop> {
    let program = std::env::current_exe().map_err(|error| failed(&error.to_string()))?;
    let mut command = Command::new(program);
    command.args(["measure", "--suite"]);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| failed(&format!("a process for the suite cannot be started: {error}")))?;
    for line in child.stdout.take().into_iter().flat_map(|out| BufReader::new(out).lines()) {
        write(&line.map_err(|error| failed(&error.to_string()))?)?;
    }
    match child.wait().map_err(|error| failed(&error.to_string()))?.code() {
        Some(0) => Ok(true),
        Some(1) => Ok(false),
        _ => Err(failed("the suite could not be timed: see above")),
    }
}

/// Times the suite on this process's GPU, and returns whether every point could be timed.
fn suite() -> Result<bool, Stop> {
    let cases = cases().map_err(|error| failed(&error.to_string()))?;
    let mut stopwatch = Stopwatch::open(Choice::Gpu).map_err(|error| failed(&error.to_string()))?;
    output::print(&format!("{}\n", header("measure", &stopwatch)));
    let mut complete = true;
    for case in &cases {
        let timed = stopwatch.time(case, |record| match record {
            Ok(record) => complete &= output::print(&format!("{record}\n")),
            Err(why) => {
                complete = false;
                output::note(&format!("{}: {why}", case.name));
            }
        });
        timed.map_err(|error| failed(&format!("{}: {error}", case.name)))?;
    }
    Ok(complete)
}

/// The first lines of the file: where the times are from.
pub(super) fn header(command: &str, stopwatch: &Stopwatch) -> String {
    let device = stopwatch.device();
    let properties = &device.properties;
    let compiler = device.compiler().map_or_else(
        |_| String::new(),
        |compiler| {
            let (major, minor) = compiler.version();
            format!(", NVRTC {major}.{minor}")
        },
    );
    let (major, minor) = properties.driver;
    format!(
        "# cargo xtask {command}, on one {}, driver for CUDA {major}.{minor}{compiler}, {}\n# {COLUMNS}",
        properties.name,
        date::today(),
    )
}

fn name(device: Choice) -> &'static str {
    match device {
        Choice::Auto => "auto",
        Choice::Gpu => "gpu",
        Choice::Emulated => "emulated",
    }
}

fn failed(why: &str) -> Stop {
    Stop::Error(RunError::new("measure", why))
}
