//! `cargo xtask calibrate`: a profile of the GPU at hand.
//!
//! A process of its own times a few kernels on the GPU; this one, which needs none, fits the clock's rates to the times.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fusion_device::{Choice, Compiler};
use fusion_grader::judgement::RunError;
use fusion_grader::render;
use fusion_machine::Profile;
use fusion_machine::profile::Calibration as Circumstances;
use fusion_timings::{Calibration, Compared, Errors, Fitted, Gpu, Record, Role, Stopwatch, cases, fits};

use super::measure;
use crate::{output, toolchain};

/// The command's options.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Exit codes: 0 the profile was written, 2 could not run.")]
pub(crate) struct Options {
    /// Where the profile goes; the times go beside it
    #[arg(long, value_name = "FILE", required_unless_present = "time")]
    out: Option<PathBuf>,
    /// Times from before, of this command or of `measure`: then no GPU is needed
    #[arg(long, value_name = "FILE")]
    measured: Option<PathBuf>,
    /// The profile to begin with [default: that of the GPU, or of one of its generation]
    #[arg(long, value_name = "GPU")]
    like: Option<String>,
    /// Fit every rate, also those with which the calibrated profile of this very GPU already predicts the times
    #[arg(long)]
    anew: bool,
    /// Time the kernels in this process and print the lines
    #[arg(long, hide = true)]
    time: bool,
}

/// Processes that time the kernels, an odd number.
const PROCESSES: usize = 9;

/// A line of the times that begins so has the GPU.
const GPU: &str = "# device: ";

/// Runs and returns the exit code.
pub(crate) fn run(options: &Options) -> u8 {
    let done = if options.time { time() } else { calibrate(options) };
    done.map_or_else(
        |error| {
            output::note(&format!("error: {}", error.message));
            2
        },
        |()| 0,
    )
}

fn failed(why: impl ToString) -> RunError {
    RunError::new("calibrate", why.to_string())
}

fn calibrate(options: &Options) -> Result<(), RunError> {
    let Some(out) = &options.out else { return Err(failed("--out is missing")) };
    toolchain::ready()?;
    let cannot = |path: &Path, error: std::io::Error| failed(format!("{}: {error}", path.display()));
    let times = match &options.measured {
        Some(path) => fs::read_to_string(path).map_err(|error| cannot(path, error))?,
        None => timed()?,
    };
    let (mut profile, known) = begin(options, &times)?;
    let records = fusion_timings::read(&times).map_err(failed)?;
    let toolchain = fusion_toolchain::find().map_err(failed)?;
    let compiler = Compiler::open(&toolchain).map_err(failed)?;
    let cases = cases().map_err(failed)?;
    let calibration =
        Calibration::new(&compiler, profile.compute, &cases, fits().map_err(failed)?, &records).map_err(failed)?;
    let fitted = calibration
        .run(&mut profile, known && !options.anew, |rate| output::note(&format!("fitting {rate}")))
        .map_err(failed)?;
    profile.id = out.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    fs::write(out, profile.text()).map_err(|error| cannot(out, error))?;
    if options.measured.is_none() {
        let beside = out.with_extension("csv");
        fs::write(&beside, &times).map_err(|error| cannot(&beside, error))?;
    }
    output::print(&said(&fitted, &profile, out));
    Ok(())
}

/// The profile from which the calibration begins, with what is known of the GPU, and whether its rates were calibrated
/// on such a GPU.
fn begin(options: &Options, times: &str) -> Result<(Profile, bool), RunError> {
    let gpu = times.lines().find_map(|line| line.strip_prefix(GPU));
    let gpu: Option<Gpu> = gpu.map(serde_json::from_str).transpose().map_err(failed)?;
    let near = || gpu.as_ref().map_or_else(Profile::default, Gpu::nearest);
    let mut profile = options.like.as_deref().map_or_else(|| Ok(near()), fusion_profile::find).map_err(failed)?;
    profile.stand_alone();
    let known = profile.calibrated.is_some() && gpu.as_ref().is_some_and(|gpu| gpu.is(&profile));
    if let Some(gpu) = &gpu {
        gpu.describe(&mut profile);
    }
    let header = times.lines().next().unwrap_or_default();
    let of = |start: &str| header.split(", ").find_map(|part| part.strip_prefix(start));
    profile.about = format!("{}, calibrated.", of("on one ").unwrap_or("A GPU"));
    profile.calibrated = Some(Circumstances {
        driver: of("driver for ").unwrap_or("unknown").to_owned(),
        clock_mhz: profile.sm_clock_khz / 1000,
        date: header.rsplit(", ").next().unwrap_or_default().to_owned(),
    });
    let what = "kernels of crates/timings/kernels/calibration, timed on it";
    profile.sources.described.insert("calibration".to_owned(), what.to_owned());
    Ok((profile, known))
}

/// Has processes of their own time the kernels: this one may open no device. Of each point the median of their times counts, since what a
/// launch costs differs by a twentieth from one process to another.
fn timed() -> Result<String, RunError> {
    let mut header = String::new();
    let mut processes: Vec<Vec<Record>> = Vec::new();
    for number in 1..=PROCESSES {
        output::note(&format!("timing kernels on the GPU, {number} of {PROCESSES}"));
        let mut command = Command::new(std::env::current_exe().map_err(failed)?);
        command.args(["calibrate", "--time"]).stdin(Stdio::null()).stderr(Stdio::inherit());
        let ended = command.output().map_err(failed)?;
        if !ended.status.success() {
            return Err(failed("the kernels could not be timed: see above"));
        }
        let text = String::from_utf8(ended.stdout).map_err(failed)?;
        processes.push(fusion_timings::read(&text).map_err(failed)?);
        header = text.lines().filter(|line| line.starts_with('#')).map(|line| format!("{line}\n")).collect();
    }
    let records = medians(&processes).map_err(failed)?;
    Ok(records.iter().fold(header, |text, record| text + &format!("{record}\n")))
}

/// Of each point the record of the process whose time is the median.
fn medians(processes: &[Vec<Record>]) -> Result<Vec<Record>, String> {
    let [first, ..] = processes else { return Ok(Vec::new()) };
    let median = |(at, record): (usize, &Record)| {
        let same = |records: &Vec<Record>| {
            records.get(at).filter(|it| it.kernel == record.kernel && it.at == record.at).cloned()
        };
        let mut all: Vec<Record> =
            processes.iter().map(same).collect::<Option<_>>().ok_or("the processes timed different kernels")?;
        all.sort_by(|a, b| a.ns.total_cmp(&b.ns));
        Ok(all.swap_remove(all.len() / 2))
    };
    first.iter().enumerate().map(median).collect()
}

/// Prints the times of all points that rates are read off.
fn time() -> Result<(), RunError> {
    let fits = fits().map_err(failed)?;
    let mut stopwatch = Stopwatch::open(Choice::Gpu).map_err(failed)?;
    let gpu = Gpu::of(stopwatch.device()).map_err(|error| failed(fusion_device::describe(&error)))?;
    let gpu = serde_json::to_string(&gpu).map_err(failed)?;
    output::print(&format!("{}\n{GPU}{gpu}\n", measure::header("calibrate", &stopwatch)));
    for mut case in cases().map_err(failed)? {
        case.points.retain(|point| fits.iter().any(|fit| fit.wants(point)));
        let mut wrong = None;
        stopwatch
            .time(&case, |record| match record {
                Ok(record) => {
                    output::print(&format!("{record}\n"));
                }
                Err(why) => wrong = Some(why),
            })
            .map_err(failed)?;
        if let Some(why) = wrong {
            return Err(failed(why));
        }
    }
    Ok(())
}

/// Rates and what they were read off, and how far off predictions are.
fn said(fitted: &[Fitted], profile: &Profile, out: &Path) -> String {
    let mut table = render::blank(["rate", "was", "is", "read off", "measured", "predicted", "off"], output::look());
    for Fitted { rate, before, after, points } in fitted {
        for (place, (record, predicted)) in points.iter().enumerate() {
            let first = |text: String| if place == 0 { text } else { String::new() };
            let Record { kernel, at, cache, ns, .. } = record;
            table.add_row([
                first(rate.clone()),
                first(format!("{before:.4}")),
                first(format!("{after:.4}")),
                format!("{kernel} {at} {cache}"),
                format!("{:.2} us", ns / 1e3),
                format!("{:.2} us", predicted / 1e3),
                format!("{:+.1}%", 100.0 * (predicted / ns - 1.0)),
            ]);
        }
    }
    let compared: Vec<Compared> = fitted
        .iter()
        .flat_map(|fitted| &fitted.points)
        .map(|(record, predicted_ns)| Compared {
            record: record.clone(),
            predicted_ns: *predicted_ns,
            role: Role::Calibration,
            bound: None,
        })
        .collect();
    let Errors { points, median, worst, .. } = Errors::of(compared.iter());
    let stay = fitted.iter().filter(|fitted| fitted.before == fitted.after).count();
    let (table, file) = (table.trim_fmt(), out.display());
    let (half, all) = (100.0 * median, 100.0 * worst);
    format!(
        "{table}\n\n{stay} of {} rates stay as they were.\n\
         {points} points: half of the predictions are within {half:.1}%, all within {all:.1}%.\n\
         {file} is a profile of `{}`: use it as `--profile {file}`, or FUSION_EMULATED_GPU={file} for other programs.\n",
        fitted.len(),
        profile.name,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_processes_the_median_counts() {
        let process =
            |ns: f64| fusion_timings::read(&format!("a/b,empty,n=1,cold,{ns},1,2\na/b,full,n=1,cold,7,1,2\n"));
        let processes = [5.0, 90.0, 4.0].map(|ns| process(ns).unwrap_or_default());
        let times: Vec<f64> = medians(&processes).unwrap_or_default().iter().map(|record| record.ns).collect();
        assert_eq!(times, [5.0, 7.0]);
        assert!(medians(&[processes[0].clone(), Vec::new()]).is_err(), "a process that timed less");
    }
}
