//! `cargo xtask counters`: what Nsight Compute counts of the unfused chain, and of the kernel that takes its place.

mod table;

use std::time::Duration;

use fusion_grader::bench::At;
use fusion_grader::judgement::{DeviceInfo, RunError};
use serde::Serialize;

use super::Run;
use super::ncu::{self, Launch};
use super::profile::{Worker, attend, size};
use crate::interrupt::Interrupt;
use crate::judge::{self, Stop};
use crate::output;
use crate::process::Watch;
use crate::progress::Progress;

/// The command's options.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "It needs a GPU and Nsight Compute (`ncu`); without them `cargo xtask profile` predicts.\n\n\
                        Exit codes: 0 counted, 1 the answer does not compile or run, 2 could not be counted, 130 interrupted.")]
pub(crate) struct Options {
    /// An exercise (`softmax`)
    #[arg(value_name = "EXERCISE")]
    target: String,
    /// The reference solution instead of your answer, and the top of the ladder
    #[arg(long)]
    solutions: bool,
    /// Elements (`1000000`) or a shape (`2048x768`) [default: what `fast` is judged at]
    #[arg(long, value_name = "SIZE")]
    size: Option<String>,
    /// Seed of the inputs
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
    /// Do not build: use the programs that lie beside this one
    #[arg(long, visible_alias = "no-build")]
    prebuilt: bool,
    /// Seconds that one variant may take
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    timeout: u64,
}

/// Takes a metric's value in.
type Put = fn(&mut Counters, f64);

/// What the profiler collects, and where it goes.
const METRICS: [(&str, Put); 6] = [
    ("gpu__time_duration.sum", |it, value| it.ns = Some(value)),
    ("dram__bytes_read.sum", |it, value| it.dram_read = Some(value)),
    ("dram__bytes_write.sum", |it, value| it.dram_written = Some(value)),
    ("lts__t_sector_hit_rate.pct", |it, value| it.l2_hit_percent = Some(value)),
    ("sm__warps_active.avg.pct_of_peak_sustained_active", |it, value| it.occupancy_percent = Some(value)),
    ("launch__registers_per_thread", |it, value| it.registers = Some(value)),
];

/// What a GPU counted of one launch. None where the profiler has no such number.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
struct Counters {
    kernel: String,
    /// Nanoseconds of the kernel alone, without what a launch costs.
    ns: Option<f64>,
    /// Bytes.
    dram_read: Option<f64>,
    dram_written: Option<f64>,
    /// Of the sectors that the L2 was asked for, how many it had.
    l2_hit_percent: Option<f64>,
    /// Resident warps, of those that an SM has room for.
    occupancy_percent: Option<f64>,
    /// Of a thread.
    registers: Option<f64>,
}

/// A chain or a kernel.
#[derive(Debug, Serialize)]
struct Variant {
    name: String,
    launches: Vec<Counters>,
}

/// What was counted.
#[derive(Debug, Serialize)]
struct Report {
    exercise: String,
    shape: String,
    device: DeviceInfo,
    variants: Vec<Variant>,
}

impl Run for Options {
    const LISTENS: bool = true;

    fn run(&self, interrupt: &Interrupt) -> u8 {
        match count(self, interrupt) {
            Ok(Ok(report)) => {
                let printed = match self.json {
                    true => output::json(serde_json::to_string_pretty(&report)),
                    false => output::print(&table::text(&report, output::look())),
                };
                if printed { 0 } else { 2 }
            }
            Ok(Err(note)) => {
                output::note(&format!("{}: {note}", self.target));
                1
            }
            Err(stop) => stop.end(interrupt),
        }
    }
}

/// Counts every variant, or says what is wrong with the answer.
fn count(options: &Options, interrupt: &Interrupt) -> Result<Result<Report, String>, Stop> {
    let cannot = |why: String| {
        let message = format!("{why}; `cargo xtask profile {}` predicts without a GPU", options.target);
        Stop::Error(RunError::new("no-counters", message))
    };
    if let Some(Err(why)) = options.size.as_ref().map(|size| size.parse::<At>()) {
        return Err(Stop::Error(RunError::new("unknown-size", why)));
    }
    let worker = match Worker::find(&options.target, options.solutions, options.seed, options.prebuilt, interrupt)? {
        Ok(worker) => worker,
        Err(note) => return Ok(Err(note)),
    };
    let device = judge::probe(&worker.program, interrupt)?.map_err(|why| cannot(format!("there is no GPU: {why}")))?;
    if !ncu::is_there() {
        return Err(cannot(
            "`ncu` is not on the PATH: install Nsight Compute, which comes with the CUDA toolkit".to_owned(),
        ));
    }
    let progress = Progress::new(1);
    let watch = Watch { limit: Duration::from_secs(options.timeout), interrupt };
    let top = options.solutions.then_some(("top", Some("top")));
    let (mut shape, mut variants) = (String::new(), Vec::new());
    for (name, rung) in [("unfused", Some("unfused")), ("fused", None)].into_iter().chain(top) {
        // Which kernels it launches, the emulated device says. The profiler then leaves out what fills the buffers.
        let known =
            attend(&mut worker.command("emulated", rung, options.size.as_deref()), worker.exercise, &watch, &progress);
        let profiled = match known {
            Ok(Ok((_, profiled))) => profiled,
            Ok(Err(note)) => return Ok(Err(note)),
            // Not every ladder has one.
            Err(Stop::Error(error)) if error.is("unknown-rung") && name == "top" => continue,
            Err(stop) => return Err(stop),
        };
        progress.say(format!("{}: asking ncu of {name}", worker.exercise));
        let kernels: Vec<&str> = profiled.predicted.launches.iter().map(|launch| launch.kernel.as_str()).collect();
        let names = METRICS.map(|(metric, _)| metric).join(",");
        let command = worker.command("gpu", rung, Some(&size(&profiled)));
        let launches = ncu::ask(&command, &kernels, &["--metrics", &names], &watch).map_err(|why| {
            match interrupt.requested() {
                true => Stop::Interrupted,
                false => cannot(format!("ncu says nothing: {why}")),
            }
        })?;
        shape.clone_from(&profiled.shape);
        variants.push(Variant { name: name.to_owned(), launches: launches.into_iter().map(counters).collect() });
    }
    Ok(Ok(Report { exercise: worker.exercise.to_owned(), shape, device, variants }))
}

fn counters(launch: Launch) -> Counters {
    let mut counters = Counters { kernel: launch.kernel, ..Counters::default() };
    for (metric, set) in METRICS {
        if let Some(&value) = launch.metrics.get(metric) {
            set(&mut counters, value);
        }
    }
    counters
}
