//! `cargo xtask bench`: the unfused chain, the learner's kernel and the solution over a sweep of sizes.

mod csv;
mod json;
mod pictures;
mod tables;

use std::path::{Path, PathBuf};
use std::time::Duration;

use fusion_grader::bench::{At, Role, Size, Variant};
use fusion_grader::judgement::{DeviceInfo, DeviceKind, Kind, RunError};
use serde::Serialize;

use crate::device::{self, Device};
use crate::emulated::Emulated;
use crate::interrupt::{self, Interrupt};
use crate::judge::Stop;
use crate::programs::{self, Programs};
use crate::progress::Progress;
use crate::sweep::{Ask, Swept, sweep};
use crate::target::{self, Selection};
use crate::{command, date, output, toolchain};

/// The command's options.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// Days (`day22`, `22`), exercises (`add_gelu`) or `all`, which is also what no target means
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,
    /// Leave your answers out: the unfused chain and the solution only
    #[arg(long)]
    solutions: bool,
    /// Where to run: `auto` takes a GPU when there is one
    #[arg(long, value_enum, default_value_t = Device::Auto)]
    device: Device,
    #[command(flatten)]
    emulated: Emulated,
    /// Other sizes than the course's: elements (`1000000`) or shapes (`2048x768`)
    #[arg(long, value_delimiter = ',', value_name = "SIZE")]
    sizes: Vec<String>,
    /// Seed of the inputs
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print one JSON object instead of tables
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print comma-separated values instead of tables
    #[arg(long)]
    csv: bool,
    /// Write pictures into this folder too: roofline, time over size, bytes unfused beside fused
    #[arg(long, value_name = "DIR")]
    svg: Option<PathBuf>,
    /// Do not build: use the programs that lie beside this one
    #[arg(long, visible_alias = "no-build")]
    prebuilt: bool,
    /// Seconds that one size may take [default: 120 emulated, 60 on a GPU]
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u64>,
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Report {
    version: u32,
    command: String,
    /// Of a measurement; a prediction is the same every day.
    #[serde(skip_serializing_if = "Option::is_none")]
    date: Option<String>,
    exercises: Vec<Benched>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<RunError>,
}

/// An exercise over all sizes.
#[derive(Clone, Debug, Serialize)]
struct Benched {
    name: String,
    day: u32,
    definition: String,
    /// Whether times are measured; predicted otherwise.
    measured: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<DeviceInfo>,
    sizes: Vec<Size>,
    /// What was not timed, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

impl Benched {
    /// `measured` or `PREDICTED`: every row says which.
    fn basis(&self) -> &'static str {
        if self.measured { "measured" } else { "PREDICTED" }
    }
}

impl super::Run for Options {
    const LISTENS: bool = true;

    fn run(&self, interrupt: &Interrupt) -> u8 {
        run(self, interrupt)
    }
}

/// Runs and returns the exit code: 0 when something of every exercise was timed (notes say what was left out), 1 when one has
/// nothing that could be, 2 when it could not run at all.
fn run(options: &Options, interrupt: &Interrupt) -> u8 {
    options.emulated.choose();
    let mut report = Report { version: 2, command: command::command(), date: None, exercises: Vec::new(), error: None };
    let ended = bench(options, interrupt, &mut report);
    let mut code = u8::from(report.exercises.iter().any(|exercise| exercise.sizes.is_empty()));
    match ended {
        Ok(()) => {}
        Err(Stop::Error(error)) if !interrupt.requested() => {
            report.error = Some(error);
            code = 2;
        }
        Err(_) => {
            report.error = Some(RunError::new("interrupted", "interrupted: only what was timed before is shown"));
            code = interrupt::EXIT_CODE;
        }
    }
    if report.exercises.iter().any(|exercise| exercise.measured) {
        report.date = Some(date::today());
    }
    let told = tell(options, &report);
    let drawn = match &options.svg {
        Some(folder) => draw(&report, folder),
        None => true,
    };
    if told && drawn { code } else { 2 }
}

fn bench(options: &Options, interrupt: &Interrupt, report: &mut Report) -> Result<(), Stop> {
    for size in &options.sizes {
        size.parse::<At>().map_err(|why| Stop::Error(RunError::new("unknown-size", why)))?;
    }
    if let Some(folder) = &options.svg {
        // Before anything is timed: a sweep is too long to be told afterwards that its pictures have no place.
        std::fs::create_dir_all(folder).and_then(|()| tempfile::tempfile_in(folder)).map_err(|error| {
            let text = format!("cannot write pictures into {}: {error}", folder.display());
            Stop::Error(RunError::new("no-folder", text))
        })?;
    }
    let selections = target::resolve(&options.targets, fusion_course::days()).map_err(|unknown| {
        let error = RunError::new("unknown-target", unknown.to_string());
        Stop::Error(RunError { nearest: unknown.nearest, ..error })
    })?;
    let kinds: &[Kind] = if options.solutions { &[Kind::Solution] } else { &[Kind::Solution, Kind::Exercise] };
    let days = selections.iter().map(|selection| selection.day.number);
    let packages: Vec<String> =
        days.flat_map(|day| kinds.iter().map(move |&kind| programs::package(kind, day))).collect();
    toolchain::ready().map_err(Stop::Error)?;
    let programs = Programs::get(&packages, options.prebuilt, interrupt).map_err(Stop::Error)?;
    let gpu = device::gpu(options.device, &programs, interrupt)?;
    let device = if gpu.is_some() { DeviceKind::Gpu } else { DeviceKind::Emulated };
    let limit = Duration::from_secs(options.timeout.unwrap_or(match device {
        DeviceKind::Emulated => 120,
        DeviceKind::Gpu => 60,
    }));
    let progress = Progress::new(selections.iter().map(|selection| selection.exercises.len()).sum());
    for Selection { day, exercises } in &selections {
        for exercise in exercises {
            let mut benched = Benched {
                name: exercise.name.to_owned(),
                day: day.number,
                definition: exercise.definition.to_owned(),
                measured: device == DeviceKind::Gpu,
                device: None,
                sizes: Vec::new(),
                notes: Vec::new(),
            };
            for &kind in kinds {
                let package = programs::package(kind, day.number);
                let Some(program) = programs.paths.get(&package) else {
                    benched.notes.push(format!("{}: `{package}` does not compile", whose(kind)));
                    continue;
                };
                let ask = Ask {
                    program,
                    root: programs.root.as_deref(),
                    exercise: exercise.name,
                    device,
                    sizes: &options.sizes,
                    seed: options.seed,
                    top: false,
                    short: false,
                    limit,
                };
                let swept = sweep(&ask, interrupt, &progress)?;
                benched.add(kind, swept);
            }
            report.exercises.push(benched);
            progress.step();
        }
    }
    Ok(())
}

/// What an answer is called in tables.
fn whose(kind: Kind) -> &'static str {
    match kind {
        Kind::Exercise => "yours",
        Kind::Solution | Kind::Sample => "solution",
    }
}

impl Benched {
    /// Adds what one worker found out. Of the chain and the kernel to beat the first worker's times stay; a speedup is
    /// over the chain in the same process.
    fn add(&mut self, kind: Kind, swept: Swept) {
        let name = whose(kind);
        self.device = self.device.take().or(swept.device);
        self.notes.extend(swept.notes.into_iter().map(|note| format!("{name}: {note}")));
        for mut size in swept.sizes {
            let shape = size.shape.clone();
            self.notes.extend(size.notes.drain(..).map(|note| format!("{shape}: {note}")));
            for variant in size.variants.iter_mut().filter(|variant| variant.role == Role::Submission) {
                variant.name = name.to_owned();
            }
            match self.sizes.iter_mut().find(|known| known.shape == size.shape) {
                Some(known) => {
                    let new: Vec<Variant> =
                        size.variants.into_iter().filter(|variant| variant.role == Role::Submission).collect();
                    // Yours stands between the chain and the solution.
                    let place = known.variants.len().min(1);
                    known.variants.splice(place..place, new);
                }
                None => self.sizes.push(size),
            }
        }
        self.sizes.sort_by_key(|size| (size.elements(), size.columns));
    }
}

fn tell(options: &Options, report: &Report) -> bool {
    if options.json {
        return output::json(json::text(report));
    }
    let text = if options.csv { csv::text(&report.exercises) } else { tables::text(report, output::look()) };
    let printed = output::print(&text);
    if options.csv {
        let notes =
            report.exercises.iter().flat_map(|exercise| exercise.notes.iter().map(move |note| (exercise, note)));
        notes.for_each(|(exercise, note)| output::note(&format!("{}: {note}", exercise.name)));
    }
    if let Some(error) = &report.error {
        output::note(&format!("error: {}", error.message));
    }
    printed
}

fn draw(report: &Report, folder: &Path) -> bool {
    let mut pictures = report.exercises.iter().flat_map(|exercise| pictures::all(exercise, report));
    let written = pictures.try_for_each(|(name, text)| std::fs::write(folder.join(name), text));
    if let Err(error) = &written {
        output::note(&format!("error: cannot write pictures into {}: {error}", folder.display()));
    }
    written.is_ok()
}

#[cfg(test)]
mod tests;
