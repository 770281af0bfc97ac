//! `fusion-timings`: times the kernels of the suite on a GPU, or asks the emulated device's clock.
//!
//! Exit codes: 0 done, 1 a point could not be timed, 2 something could not be run.

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use fusion_device::Choice;
use fusion_timings::{Case, Stopwatch, cases};

/// Kernels that are timed on real GPUs.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Names the points
    List { words: Vec<String> },
    /// Times every point, and prints a line of each
    Time {
        /// What to run on: auto, gpu or emulated
        #[arg(long, default_value = "gpu")]
        device: Choice,
        /// Parts of names of files or kernels; all points when absent
        words: Vec<String>,
    },
    /// Launches every point once, for a profiler to look at
    Launch {
        /// What to run on: auto, gpu or emulated
        #[arg(long, default_value = "gpu")]
        device: Choice,
        words: Vec<String>,
    },
}

fn main() -> ExitCode {
    fusion_suite::main(|out| match Arguments::parse().command {
        Command::List { words } => {
            for case in wanted(&words)? {
                for point in &case.points {
                    writeln!(out, "{},{},{},{}", case.name, point.launch.kernel, point.at, point.cache)?;
                }
            }
            Ok(ExitCode::SUCCESS)
        }
        Command::Time { device, words } => time(device, &words, out),
        Command::Launch { device, words } => {
            let mut stopwatch = Stopwatch::open(device)?;
            for case in &wanted(&words)? {
                stopwatch.launch(case).map_err(|error| format!("{}: {error}", case.name))?;
            }
            Ok(ExitCode::SUCCESS)
        }
    })
}

fn time(device: Choice, words: &[String], out: &mut impl Write) -> Result<ExitCode, Box<dyn Error>> {
    let cases = wanted(words)?;
    let mut stopwatch = Stopwatch::open(device)?;
    writeln!(io::stderr(), "{}", stopwatch.device().properties.name)?;
    let (mut written, mut failed) = (Ok(()), false);
    for case in &cases {
        let timed = stopwatch.time(case, |record| match record {
            Ok(record) if written.is_ok() => written = writeln!(out, "{record}"),
            Ok(_) => {}
            Err(why) => {
                failed = true;
                // The exit code says it, too.
                let _ = writeln!(io::stderr(), "{}: {why}", case.name);
            }
        });
        timed.map_err(|error| format!("{}: {error}", case.name))?;
        written?;
        written = Ok(());
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The cases with those points that the words ask for.
fn wanted(words: &[String]) -> Result<Vec<Case>, Box<dyn Error>> {
    let mut cases = cases()?;
    for case in &mut cases {
        let name = case.name.clone();
        let named =
            |kernel: &str| words.iter().any(|word| name.contains(word.as_str()) || kernel.contains(word.as_str()));
        case.points.retain(|point| words.is_empty() || named(&point.launch.kernel));
    }
    cases.retain(|case| !case.points.is_empty());
    if cases.is_empty() {
        return Err("no point has one of these words in its name".into());
    }
    Ok(cases)
}
