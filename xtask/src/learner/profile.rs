//! `cargo xtask profile`: what bounds a kernel, line by line, by the emulated device's clock; beside it what Nsight Compute says
//! where there is a GPU and `ncu`.

mod picture;
mod states;
mod tables;
mod trace;
mod worker;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fusion_grader::bench::At;
use fusion_grader::judgement::{DeviceInfo, RunError};
use fusion_grader::profile::Profiled;
use fusion_grader::render;
use fusion_machine::report::Account;
use serde::Serialize;

pub(super) use self::worker::{Worker, attend, size};
use super::{Run, ncu};
use crate::emulated::Emulated;
use crate::interrupt::Interrupt;
use crate::judge::Stop;
use crate::output;
use crate::process::Watch;
use crate::progress::Progress;

/// The command's options.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Exit codes: 0 profiled, 1 it has no time, 2 could not run, 130 interrupted.")]
pub(crate) struct Options {
    /// An exercise (`softmax`)
    #[arg(value_name = "EXERCISE")]
    target: String,
    /// The reference solution instead of your answer
    #[arg(long)]
    solutions: bool,
    /// A rung of the exercise's ladder by its name or number, `top`, `unfused`, or the kernel to beat, instead of your answer
    #[arg(long, value_name = "NAME")]
    rung: Option<String>,
    /// Elements (`1000000`) or a shape (`2048x768`) [default: what `fast` is judged at]
    #[arg(long, value_name = "SIZE")]
    size: Option<String>,
    #[command(flatten)]
    emulated: Emulated,
    /// Seed of the inputs
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write a Chrome trace into this file too: launches and copies, and what the warps of one multiprocessor do (open it at ui.perfetto.dev)
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Write a picture into this file too: the sectors of each access, the banks, what the warps of one multiprocessor do
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Do not ask Nsight Compute, even where there is a GPU and `ncu`
    #[arg(long)]
    no_ncu: bool,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
    /// Do not build: use the programs that lie beside this one
    #[arg(long, visible_alias = "no-build")]
    prebuilt: bool,
    /// Seconds that it may take
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    timeout: u64,
}

/// What was found out.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    exercise: String,
    device: DeviceInfo,
    #[serde(flatten)]
    profiled: Profiled,
    /// Nsight Compute's shares by kernel, or why there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    ncu: Option<Result<BTreeMap<String, states::Shares>, String>>,
    /// Lines of sources, by file.
    #[serde(skip)]
    sources: BTreeMap<String, Vec<String>>,
    /// The command that it is from.
    #[serde(skip)]
    command: &'static str,
}

impl Run for Options {
    const LISTENS: bool = true;

    fn run(&self, interrupt: &Interrupt) -> u8 {
        self.emulated.choose();
        match profile(self, interrupt) {
            Ok(Ok(mut report)) => {
                let written = report.write(self.trace.as_deref(), self.svg.as_deref());
                // The files have it.
                for account in report.profiled.predicted.launches.iter_mut().filter_map(|it| it.account.as_mut()) {
                    account.trace = None;
                }
                let printed = match self.json {
                    true => output::json(serde_json::to_string_pretty(&report)),
                    false => output::print(&tables::text(&report, output::look())),
                };
                if let Err(why) = &written {
                    output::note(&format!("error: {why}"));
                }
                if printed && written.is_ok() { 0 } else { 2 }
            }
            Ok(Err(note)) => {
                output::note(&format!("{}: {note}", self.target));
                1
            }
            Err(stop) => stop.end(interrupt),
        }
    }
}

impl Report {
    /// A report without Nsight Compute's shares.
    pub(super) fn of(exercise: String, device: DeviceInfo, profiled: Profiled, command: &'static str) -> Self {
        Self { exercise, device, profiled, ncu: None, sources: BTreeMap::new(), command }
    }

    /// With the lines that accounts name, of the files below the root.
    pub(super) fn with_sources(self, root: Option<&Path>) -> Self {
        Self { sources: sources(&self.profiled, root), ..self }
    }

    /// A table of a launch's lines: their share of the time, and their traffic.
    pub(super) fn lines(&self, account: &Account, look: render::Look) -> String {
        tables::lines(self, account, look)
    }

    /// Writes the files that are asked for.
    pub(super) fn write(&self, trace: Option<&Path>, svg: Option<&Path>) -> Result<(), String> {
        let write = |file: &Path, text: String| {
            std::fs::write(file, text).map_err(|error| format!("cannot write {}: {error}", file.display()))
        };
        if let Some(file) = trace {
            write(file, trace::text(self))?;
        }
        match svg {
            Some(file) => write(file, picture::text(self)),
            None => Ok(()),
        }
    }
}

/// The report, or why there is none.
fn profile(options: &Options, interrupt: &Interrupt) -> Result<Result<Report, String>, Stop> {
    if let Some(Err(why)) = options.size.as_ref().map(|size| size.parse::<At>()) {
        return Err(Stop::Error(RunError::new("unknown-size", why)));
    }
    // Rungs are the course's, and their top is among the solutions.
    let solutions = options.solutions || options.rung.is_some();
    let found = Worker::find(&options.target, solutions, options.seed, options.prebuilt, interrupt)?;
    let worker = match found {
        Ok(worker) => worker,
        Err(note) => return Ok(Err(note)),
    };
    let exercise = worker.exercise;
    let progress = Progress::new(1);
    let rung = options.rung.as_deref();
    let mut command = worker.command("emulated", rung, options.size.as_deref());
    if options.trace.is_some() || options.svg.is_some() {
        command.arg("--traced");
    }
    let watch = Watch { limit: Duration::from_secs(options.timeout), interrupt };
    let (device, profiled) = match attend(&mut command, exercise, &watch, &progress)? {
        Ok(found) => found,
        Err(note) => return Ok(Err(note)),
    };
    let has_gpu = || {
        let probed = || crate::judge::probe(&worker.program, interrupt);
        !options.no_ncu && ncu::is_there() && probed().is_ok_and(|gpu| gpu.is_ok())
    };
    let ncu = has_gpu().then(|| {
        progress.say(format!("{exercise}: asking ncu"));
        let command = worker.command("gpu", rung, Some(&size(&profiled)));
        let kernels: Vec<&str> = profiled.predicted.launches.iter().map(|launch| launch.kernel.as_str()).collect();
        ncu::ask(&command, &kernels, states::ASKED, &watch).map(|launches| states::shares(&launches))
    });
    let report = Report::of(exercise.to_owned(), device, profiled, "profile").with_sources(worker.root.as_deref());
    Ok(Ok(Report { ncu, ..report }))
}

/// The sources that lines are of, as far as they are there.
fn sources(profiled: &Profiled, root: Option<&Path>) -> BTreeMap<String, Vec<String>> {
    let mut sources = BTreeMap::new();
    let accounts = profiled.predicted.launches.iter().filter_map(|launch| launch.account.as_ref());
    for place in accounts.flat_map(|account| &account.lines).filter_map(|line| line.source.as_ref()) {
        if !sources.contains_key(&place.file) {
            let text = std::fs::read_to_string(root.unwrap_or(Path::new(".")).join(&place.file)).unwrap_or_default();
            sources.insert(place.file.clone(), text.lines().map(str::to_owned).collect());
        }
    }
    sources
}
