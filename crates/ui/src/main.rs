//! `fusion-ui`: runs the cases on the emulated device or on a real GPU.
//!
//! Exit codes: 0 done, 1 a case did not get its codes, 2 something could not be run.

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use fusion_device::{Choice, Device};
use fusion_machine::report::Code;
use fusion_ui::sanitizer::{self, Record};
use fusion_ui::{Case, Expected, SUITE, Session, codes, text};

/// Small CUDA kernels with one mistake each, and what is found in them.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Names the cases with the codes that they must get
    List { words: Vec<String> },
    /// Runs cases and prints their reports
    Run {
        /// What to run on: auto, gpu or emulated
        #[arg(long, default_value = "emulated")]
        device: Choice,
        /// Words are whole names
        #[arg(long)]
        exact: bool,
        /// Parts of names; all cases when absent
        words: Vec<String>,
    },
    /// Runs the cases under compute-sanitizer's four tools, on a real GPU
    Sanitizer(Sanitizer),
    /// Prints what `sanitizer` has written as a table
    Compare {
        file: PathBuf,
        /// For the book
        #[arg(long)]
        markdown: bool,
    },
}

#[derive(Debug, Args)]
struct Sanitizer {
    /// The program
    #[arg(long, default_value = "compute-sanitizer")]
    sanitizer: PathBuf,
    /// Processes at a time
    #[arg(long, default_value_t = 4)]
    jobs: usize,
    /// Seconds for one tool on one case
    #[arg(long, default_value_t = 20)]
    limit: u64,
    /// Where the result goes
    #[arg(long, default_value = "sanitizer.json")]
    out: PathBuf,
    /// Cases about lints too, which compute-sanitizer does not know
    #[arg(long)]
    lints: bool,
    /// Parts of names; all cases when absent
    words: Vec<String>,
}

fn main() -> ExitCode {
    fusion_suite::main(|out| try_main(Arguments::parse().command, out))
}

fn try_main(command: Command, out: &mut impl Write) -> Result<ExitCode, Box<dyn Error>> {
    match command {
        Command::List { words } => {
            for case in cases(&words)? {
                let pending = if case.pending { " (pending)" } else { "" };
                writeln!(out, "{}: {}{pending}", case.name, expected(&case))?;
            }
            Ok(ExitCode::SUCCESS)
        }
        Command::Run { device, exact, words } => {
            let mut cases = cases(&words)?;
            cases.retain(|case| !exact || words.contains(&case.name));
            run(&cases, device, out)
        }
        Command::Sanitizer(arguments) => under_sanitizer(&arguments, out),
        Command::Compare { file, markdown } => {
            let record: Record = serde_json::from_slice(&fs::read(&file)?)?;
            let rows = sanitizer::compare(&record.verdicts);
            if !markdown {
                writeln!(out, "{}, {}", record.device, record.sanitizer)?;
                writeln!(out, "{}", sanitizer::summary(&rows))?;
            }
            write!(out, "{}", if markdown { sanitizer::markdown(&rows) } else { sanitizer::table(&rows) })?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn run(cases: &[Case], device: Choice, out: &mut impl Write) -> Result<ExitCode, Box<dyn Error>> {
    let mut session = Session::open(device)?;
    let mut wrong = false;
    for case in cases {
        let outcome = session.run(case).map_err(|error| format!("{}: {error}", case.name))?;
        if device != Choice::Emulated {
            // A real GPU finds nothing itself.
            writeln!(out, "{}: {}", case.name, outcome.error.as_deref().unwrap_or("no error"))?;
            continue;
        }
        let found = match codes(&outcome.faults) {
            codes if codes.is_empty() => "pass".to_owned(),
            codes => list(&codes),
        };
        let expected = expected(case);
        wrong |= found != expected && !case.pending;
        writeln!(out, "== {}: expected {expected}; found {found}", case.name)?;
        write!(out, "{}", text(case, &outcome.faults))?;
    }
    Ok(if wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn under_sanitizer(arguments: &Sanitizer, out: &mut impl Write) -> Result<ExitCode, Box<dyn Error>> {
    let mut cases = cases(&arguments.words)?;
    cases.retain(|case| arguments.lints || sanitizer::concerns(case));
    let options = sanitizer::Options {
        sanitizer: arguments.sanitizer.clone(),
        program: std::env::current_exe()?,
        jobs: arguments.jobs,
        limit: Duration::from_secs(arguments.limit),
    };
    let device = Device::open(Choice::Gpu)?.properties.name;
    let verdicts = sanitizer::run(&cases, &options, |done, total| {
        // Progress is no result; whoever closed stderr does not want it.
        if done % 50 == 0 || done == total {
            let _ = writeln!(io::stderr(), "{done} of {total}");
        }
    });
    let record = Record { device, sanitizer: sanitizer::version(&arguments.sanitizer), verdicts };
    fs::write(&arguments.out, record.to_json()?)?;
    write!(out, "{}", sanitizer::table(&sanitizer::compare(&record.verdicts)))?;
    Ok(ExitCode::SUCCESS)
}

fn expected(case: &Case) -> String {
    match &case.expected {
        Expected::Pass => "pass".to_owned(),
        Expected::Fail(codes) => list(codes),
    }
}

fn list(codes: &[Code]) -> String {
    let codes: Vec<&str> = codes.iter().map(|code| code.as_str()).collect();
    codes.join(", ")
}

fn cases(words: &[String]) -> Result<Vec<Case>, Box<dyn Error>> {
    let mut cases = Vec::new();
    for (name, text) in SUITE.find(words)? {
        cases.push(Case::parse(&name, &text).map_err(|error| format!("{name}: {error}"))?);
    }
    Ok(cases)
}
