//! The main function of every program that holds submissions.
//!
//! Such a program is not run by hand: `cargo xtask` starts one for each submission and reads its
//! [`Message`]s. It ends when its parent does, so that none is left behind whatever becomes of that.

mod bench;
#[cfg(unix)]
pub mod contained;
mod judge;
mod measure;
mod mutants;
pub mod play;
mod profile;
mod rungs;
mod verdicts;

pub use measure::case;
pub use verdicts::predicted;

use std::io::{ErrorKind, Read};
use std::num::NonZeroUsize;
use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use clap::{Parser, Subcommand, ValueEnum};
use fusion_course::{Entry, Sample, Submission};

use crate::bench::At;
use crate::judgement::{DeviceKind, Parts, RunError};
use crate::protocol::{self, Message, SPENT, SampleName};
use crate::session::{BUDGET, Session, within};

/// The main function of a program that holds answers.
pub fn main(submission: Submission) -> ExitCode {
    main_with(submission, Vec::new(), Vec::new())
}

/// The main function of a program that holds reference solutions, the top rungs of ladders, and samples whose verdict is known.
pub fn main_with(submission: Submission, top: Vec<Entry>, samples: Vec<Sample>) -> ExitCode {
    let cli = Cli::parse();
    let parent = protocol::open();
    match cli.command {
        Command::List => {
            list(&submission, &top, &samples);
            ExitCode::SUCCESS
        }
        Command::Probe => {
            probe();
            ExitCode::SUCCESS
        }
        Command::Bench(options) => {
            end_with(parent);
            bench::run(&options, &submission, &top)
        }
        Command::Profile(options) => {
            end_with(parent);
            profile::run(&options, &submission, &top)
        }
        Command::Measure(options) => {
            end_with(parent);
            measure::run(&options, &submission, &top, &samples)
        }
        Command::Verdicts(options) => {
            end_with(parent);
            verdicts::run(&options, &submission, &top, &samples)
        }
        Command::Judge(options) => {
            end_with(parent);
            judge::run(&options, &submission, &top, &samples)
        }
    }
}

#[derive(Debug, Parser)]
#[command(about = "Holds submissions for the grader; run `cargo xtask grade` instead", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Name the submissions
    List,
    /// Look for a GPU
    Probe,
    /// Time one submission beside the unfused chain over a sweep of sizes
    Bench(BenchOptions),
    /// Say where the time of one variant goes
    Profile(ProfileOptions),
    /// Time all that can be launched alone
    Measure(MeasureOptions),
    /// Say how fast everything of one exercise is that can be launched as an answer
    Verdicts(VerdictsOptions),
    /// Judge one submission, or several samples or mutants of one exercise
    Judge(Options),
}

#[derive(Clone, Debug, clap::Args)]
struct Options {
    #[arg(long)]
    exercise: String,
    #[arg(long, value_enum)]
    device: Device,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Judge the top rung of the exercise's ladder, or mutants of that, instead of the submission
    #[arg(long, conflicts_with = "sample")]
    top: bool,
    /// Judge the other rungs of the ladder instead of the submission, one after the other
    #[arg(long, conflicts_with_all = ["top", "sample", "mutant"])]
    rungs: bool,
    /// Judge these samples instead of the submission
    #[arg(long)]
    sample: Vec<String>,
    /// Judge these mutants of the submission instead of it
    #[arg(long, conflicts_with = "sample")]
    mutant: Vec<String>,
    #[arg(long, value_delimiter = ',', value_parser = PossibleValuesParser::new(Parts::NAMES))]
    #[arg(default_values = Parts::NAMES)]
    parts: Vec<String>,
    /// Elements of the large problem
    #[arg(long)]
    size: Option<usize>,
    /// On the emulated device, judge as on a GPU, by the model's clock: for testing
    #[arg(long, hide = true)]
    as_gpu: bool,
}

#[derive(Clone, Debug, clap::Args)]
struct BenchOptions {
    #[arg(long)]
    exercise: String,
    #[arg(long, value_enum)]
    device: Device,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Sizes other than the course's: elements, or ROWSxCOLUMNS
    #[arg(long, value_delimiter = ',')]
    sizes: Vec<At>,
    /// Time the top rung of the exercise's ladder, where it has one, as the submission
    #[arg(long)]
    top: bool,
    /// Only the unfused chain and the submission: neither the ladder nor a kernel to beat
    #[arg(long)]
    short: bool,
    /// Milliseconds that the pairs of one variant at one size may take
    #[arg(long, default_value_t = 2000)]
    limit_ms: u64,
    /// On the emulated device, time as on a GPU, by the model's clock: for testing
    #[arg(long, hide = true)]
    as_gpu: bool,
}

#[derive(Clone, Debug, clap::Args)]
struct ProfileOptions {
    #[arg(long)]
    exercise: String,
    #[arg(long, value_enum)]
    device: Device,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Elements, or ROWSxCOLUMNS
    #[arg(long)]
    size: Option<At>,
    /// A rung of the ladder, the kernel to beat or the unfused chain instead of the submission
    #[arg(long)]
    rung: Option<String>,
    /// Say what the warps of one multiprocessor do, and when
    #[arg(long)]
    traced: bool,
    /// Say what the compiler made of the kernels
    #[arg(long)]
    compiled: bool,
}

#[derive(Clone, Debug, clap::Args)]
struct MeasureOptions {
    /// Only this one
    #[arg(long)]
    exercise: Option<String>,
    #[arg(long, value_enum)]
    device: Device,
    /// Only one of so many shapes
    #[arg(long, default_value = "1")]
    one_in: NonZeroUsize,
}

#[derive(Clone, Debug, clap::Args)]
struct VerdictsOptions {
    #[arg(long)]
    exercise: String,
    #[arg(long, value_enum)]
    device: Device,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Device {
    Gpu,
    Emulated,
}

impl From<Device> for DeviceKind {
    fn from(device: Device) -> Self {
        match device {
            Device::Gpu => DeviceKind::Gpu,
            Device::Emulated => DeviceKind::Emulated,
        }
    }
}

/// The answer to an exercise.
fn find<'a>(entries: &'a [Entry], exercise: &str) -> Option<&'a Entry> {
    entries.iter().find(|entry| entry.exercise.name == exercise)
}

fn list(submission: &Submission, top: &[Entry], samples: &[Sample]) {
    let names = |entries: &[Entry]| entries.iter().map(|entry| entry.exercise.name.to_owned()).collect();
    Message::Listed {
        day: submission.day,
        exercises: names(&submission.entries),
        top: names(top),
        samples: (samples.iter())
            .map(|sample| SampleName {
                exercise: sample.entry.exercise.name.to_owned(),
                name: sample.name.to_owned(),
                verdict: sample.verdict.to_owned(),
            })
            .collect(),
    }
    .send();
}

fn probe() {
    let (gpu, note) = match Session::open_with(DeviceKind::Gpu, false, within(BUDGET)) {
        Ok(session) => (Some(session.info), None),
        Err(RunError { message, .. }) => (None, Some(message)),
    };
    Message::Probed { gpu, note }.send();
}

/// Ends this process as soon as what comes from its parent does.
///
/// By a signal, because an orderly exit would wait for a kernel that never ends.
fn end_with(mut parent: Box<dyn Read + Send>) {
    std::thread::spawn(move || {
        let mut buffer = [0; 64];
        loop {
            match parent.read(&mut buffer) {
                Ok(1..) => {}
                // A signal of the submission's own.
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => break,
            }
        }
        kill_self();
    });
}

#[cfg(unix)]
fn kill_self() {
    let _never_returns = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
}

/// Elsewhere there are no signals; an exit runs the handlers of the C library only, which wait for no thread.
#[cfg(not(unix))]
fn kill_self() {
    std::process::exit(1);
}

/// The exit code after the last judgement.
fn exit_code(session: &Session) -> ExitCode {
    if session.is_spent() { ExitCode::from(SPENT) } else { ExitCode::SUCCESS }
}
