//! `cargo xtask explain EXERCISE`: what the learner's kernel became, and after a pass what the solutions' became beside it.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use fusion_course::Exercise;
use fusion_diagnostic::bound;
use fusion_grader::judgement::{DeviceInfo, Kind, RunError};
use fusion_grader::profile::{Compiled, Launch, Profiled, Ptx};
use fusion_grader::render::{self, Look};
use serde::Serialize;

use super::Options;
use crate::interrupt::Interrupt;
use crate::judge::Stop;
use crate::learner::choice::Learner;
use crate::learner::files::Folder;
use crate::learner::{microseconds, profile};
use crate::process::Watch;
use crate::programs::{self, Programs};
use crate::progress::Progress;
use crate::{output, toolchain};

/// Lines of PTX that are shown.
const MOST_PTX: usize = 40;

/// What came of it.
#[derive(Debug, Serialize)]
struct Report {
    version: u32,
    exercise: &'static str,
    device: DeviceInfo,
    /// The learner's first, then those that are beside it.
    variants: Vec<Variant>,
    exit_code: u8,
    /// With the lines of the learner's source.
    #[serde(skip)]
    own: profile::Report,
}

#[derive(Debug, Serialize)]
struct Variant {
    /// `yours`, `solution`, `top`.
    name: &'static str,
    #[serde(flatten)]
    profiled: Profiled,
}

/// Returns the exit code.
pub(super) fn run(options: &Options, exercise: &'static Exercise, interrupt: &Interrupt) -> u8 {
    options.emulated.choose();
    match explain(options, exercise, interrupt) {
        Ok(Ok(report)) => {
            let printed = match options.json {
                true => output::json(serde_json::to_string_pretty(&report)),
                false => output::print(&text(&report, output::look())),
            };
            if printed { 0 } else { 2 }
        }
        Ok(Err(note)) => {
            output::note(&format!("{}: {note}", exercise.name));
            1
        }
        Err(stop) => stop.end(interrupt),
    }
}

/// The report, or why there is none.
fn explain(
    options: &Options,
    exercise: &'static Exercise,
    interrupt: &Interrupt,
) -> Result<Result<Report, String>, Stop> {
    let learner = Learner::find().map_err(|why| Stop::Error(RunError::new("no-checkout", why)))?;
    // Before a pass only what is the learner's own.
    let done = learner.attempts.standing(exercise).is_done();
    let [own, reference] = [Kind::Exercise, Kind::Solution].map(|kind| programs::package(kind, exercise.day));
    let packages: Vec<String> = std::iter::once(own.clone()).chain(done.then(|| reference.clone())).collect();
    toolchain::ready().map_err(Stop::Error)?;
    let programs = Programs::get(&packages, options.prebuilt, interrupt).map_err(Stop::Error)?;
    let mut asked: Vec<(&'static str, &String, &[&str])> = vec![("yours", &own, &[])];
    if done {
        asked.push(("solution", &reference, &[]));
        let [top, _] = Folder::Top.paths(exercise);
        asked.extend(learner.state.root.join(top).is_file().then_some(("top", &reference, &["--rung", "top"][..])));
    }
    let progress = Progress::new(asked.len());
    let watch = Watch { limit: Duration::from_secs(options.timeout), interrupt };
    let mut variants = Vec::new();
    let mut device = None;
    for (name, package, arguments) in asked {
        let Some(program) = programs.paths.get(package) else {
            let errors = programs.errors.iter().map(|error| render::failure(&error.failure, &[], output::look()));
            return Ok(Err(format!("`{package}` does not compile\n\n{}", errors.collect::<Vec<_>>().join("\n\n"))));
        };
        let mut command = Command::new(program);
        command.args(["profile", "--exercise", exercise.name, "--device", "emulated", "--seed", "1", "--compiled"]);
        command.args(arguments).current_dir(programs.root.as_deref().unwrap_or(Path::new(".")));
        match profile::attend(&mut command, exercise.name, &watch, &progress)? {
            Ok((on, profiled)) => {
                device.get_or_insert(on);
                variants.push(Variant { name, profiled });
            }
            Err(note) if name == "yours" => return Ok(Err(note)),
            // The learner's own is explained without it.
            Err(note) => progress.remark(&format!("{name}: {note}")),
        }
        progress.step();
    }
    let (Some(device), Some(first)) = (device, variants.first()) else {
        return Ok(Err("nothing was launched".to_owned()));
    };
    let own = profile::Report::of(exercise.name.to_owned(), device.clone(), first.profiled.clone(), "explain");
    let own = own.with_sources(programs.root.as_deref());
    Ok(Ok(Report { version: 1, exercise: exercise.name, device, variants, exit_code: 0, own }))
}

fn text(report: &Report, look: Look) -> String {
    let Some(own) = report.variants.first() else { return String::new() };
    let (exercise, shape, device) = (report.exercise, &own.profiled.shape, &report.device.name);
    let mut parts = vec![format!(
        "{exercise}: what your kernel became, at {shape}, on {device}\n\
         PREDICTED by the emulated device's clock: no time here is a measurement"
    )];
    parts.push(table(report, look));
    let bounds = report.variants.iter().filter_map(|variant| {
        let account = longest(&variant.profiled)?.account.as_ref()?;
        Some(format!("{}: bound by {}", title(variant.name), bound(account, device)))
    });
    parts.push(bounds.collect::<Vec<_>>().join("\n"));
    if let Some(launch) = longest(&own.profiled) {
        if let Some(account) = &launch.account {
            parts.push(format!(
                "Time and traffic of {} by line:\n\n{}",
                launch.kernel,
                report.own.lines(account, look)
            ));
        }
        parts.extend(launch.compiled.as_ref().and_then(hot));
    }
    parts.join("\n\n") + "\n"
}

fn title(name: &str) -> &str {
    match name {
        "yours" => "yours",
        "solution" => "the solution",
        _ => "the top rung",
    }
}

fn longest(profiled: &Profiled) -> Option<&Launch> {
    profiled.predicted.launches.iter().max_by(|one, other| one.ns.total_cmp(&other.ns))
}

/// A column for each variant. Of several launches the longest is shown.
fn table(report: &Report, look: Look) -> String {
    type Cell = fn(&Variant, &Launch, &Compiled) -> String;
    let rows: [(&str, Cell); 8] = [
        ("launches", |variant, _, _| variant.profiled.predicted.launches.len().to_string()),
        ("time", |variant, _, _| format!("{} us", microseconds(variant.profiled.predicted.ns))),
        ("blocks x threads", |_, launch, _| {
            let count = |dimensions: [u32; 3]| dimensions.iter().map(|side| u64::from(*side)).product::<u64>();
            format!("{} x {}", count(launch.grid), count(launch.block))
        }),
        ("registers per thread", |_, _, compiled| compiled.takes.registers.to_string()),
        ("spilled", |_, _, compiled| match compiled.spills {
            Some((0, 0)) => "nothing".to_owned(),
            Some((stores, loads)) => format!("{stores} bytes stored, {loads} loaded"),
            None => "not known".to_owned(),
        }),
        ("shared memory per block", |_, _, compiled| format!("{} bytes", compiled.takes.shared_bytes)),
        ("occupancy", |_, _, compiled| {
            let (warps, most) = (compiled.takes.warps, compiled.takes.most_warps);
            format!("{:.0}%: {warps} of {most} warps", 100.0 * f64::from(warps) / f64::from(most.max(1)))
        }),
        ("limited by", |_, _, compiled| compiled.takes.limited_by.join(", ")),
    ];
    let titles = report.variants.iter().map(|variant| title(variant.name));
    let mut table = render::blank(std::iter::once("").chain(titles), look);
    for (name, cell) in rows {
        let cells = report.variants.iter().map(|variant| {
            let launch = longest(&variant.profiled);
            let known = launch.and_then(|launch| Some((launch, launch.compiled.as_ref()?)));
            known.map_or_else(|| "-".to_owned(), |(launch, compiled)| cell(variant, launch, compiled))
        });
        table.add_row(std::iter::once(name.to_owned()).chain(cells));
    }
    table.trim_fmt()
}

/// The PTX of the hottest place, with the source's line where that changes.
fn hot(compiled: &Compiled) -> Option<String> {
    let Compiled { hot, is_loop, .. } = compiled;
    let title = if *is_loop {
        "The loop in which warps spend most of their time"
    } else {
        "The line at which warps spend most of their time"
    };
    let mut before = None;
    let lines = hot.iter().take(MOST_PTX).map(|Ptx { line, text }| {
        let number = line.filter(|line| before != Some(*line)).map(|line| line.to_string()).unwrap_or_default();
        before = line.or(before);
        format!("{number:>5} | {text}\n")
    });
    let lines: String = lines.collect();
    let more = match hot.len().saturating_sub(MOST_PTX) {
        0 => String::new(),
        more => format!("      | and {more} more; --json has all of them\n"),
    };
    (!hot.is_empty())
        .then(|| format!("{title}, as PTX, with the lines of the source:\n\n{lines}{more}").trim_end().to_owned())
}
