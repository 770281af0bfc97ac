//! `cargo run --release -p fusion-fuzz -- --minutes 30`

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use fusion_fuzz::{Input, Session, Settings, Status, check, generate, watch_panics};

/// Tries random PTX and random launches on the front end and the emulated GPU.
#[derive(Debug, Parser)]
struct Arguments {
    /// How long to look.
    #[arg(long, default_value_t = 1.0)]
    minutes: f64,
    /// Where the random numbers begin. The same seed with one job does the same again.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Threads.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Inputs to begin with.
    #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus"))]
    corpus: PathBuf,
    /// Where to put what is found.
    #[arg(long, default_value = "fuzz-findings")]
    findings: PathBuf,
    /// Put inputs that reach something new into this folder.
    #[arg(long)]
    keep: Option<PathBuf>,
    /// Print the module that belongs to a seed, and look no further.
    #[arg(long, value_name = "SEED")]
    generate: Option<u64>,
    /// Check one file, or every file of a folder, and look no further.
    #[arg(long)]
    replay: Option<PathBuf>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    watch_panics();
    let result = match (&arguments.replay, arguments.generate) {
        (Some(path), _) => replay(path),
        (_, Some(seed)) => std::io::stdout().write_all(&generate(seed).to_bytes()).map(|()| true),
        _ => look(arguments),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Whether every input holds.
fn replay(path: &std::path::Path) -> std::io::Result<bool> {
    let inputs = match path.is_dir() {
        true => Input::folder(path)?,
        false => vec![(path.display().to_string(), Input::from_bytes(&std::fs::read(path)?))],
    };
    let mut holds = true;
    for (name, input) in inputs {
        match check(&input) {
            Ok(observed) => println!("{name}: holds, {} launches", observed.launches),
            Err(finding) => {
                println!("{name}: {finding}");
                holds = false;
            }
        }
    }
    Ok(holds)
}

/// Whether nothing was found.
fn look(arguments: Arguments) -> std::io::Result<bool> {
    let settings = Settings {
        time: Duration::try_from_secs_f64(60.0 * arguments.minutes).unwrap_or(Duration::MAX),
        seed: arguments.seed,
        jobs: arguments.jobs.max(1),
        corpus: arguments.corpus,
        findings: arguments.findings.clone(),
        keep: arguments.keep,
    };
    // The jobs hold it for as long as the process lives: one that hangs is never joined.
    let session: &'static Session = Box::leak(Box::new(Session::new(settings)?));
    if let Err(path) = session.run(print) {
        println!("a case does not end: {}", path.display());
        return Ok(false);
    }
    let findings = session.findings();
    for (finding, path) in &findings {
        println!("\n{finding}\n  again with: cargo run --release -p fusion-fuzz -- --replay {}", path.display());
    }
    let codes: Vec<&str> = session.status().codes.iter().map(|code| code.as_str()).collect();
    println!("\nfault codes seen: {}", codes.join(" "));
    println!("{} findings with seed {}", findings.len(), arguments.seed);
    Ok(findings.is_empty())
}

fn print(status: &Status) {
    println!(
        "{:5.0} s: {} cases ({:.0} a second), {} launches; reached {} instruction forms, {} fault codes, \
         {} diagnostics, {} in all; {} kept; {} findings",
        status.seconds,
        status.cases,
        status.cases as f64 / status.seconds,
        status.launches,
        status.forms,
        status.codes.len(),
        status.diagnostics,
        status.features,
        status.pool,
        status.findings,
    );
}
