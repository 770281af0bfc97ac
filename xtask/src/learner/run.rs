//! `cargo xtask run -- PROGRAM`: a program of anybody's on the emulated GPU, and what was found.
//!
//! The program is started with a folder of its own on the loader's path, in which `libcuda` and `libcudart` are the emulated ones. It
//! keeps this process's standard input, output and error; the driver writes what happens into a journal, which is read when the
//! program has ended, however that was.

#[cfg(target_os = "linux")]
mod journal;
#[cfg(target_os = "linux")]
mod program;
#[cfg(target_os = "linux")]
mod summary;
#[cfg(target_os = "linux")]
mod trace;

use std::ffi::OsString;
use std::path::PathBuf;

use fusion_machine::Checks;

use crate::emulated::Emulated;
use crate::interrupt::Interrupt;
use crate::output;

/// Could not be run, or there was nothing to be judged.
const NOTHING_JUDGED: u8 = 2;

/// The command's options.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Exit codes: the program's own; 128 and the signal's number when one ended it; 1 when it ended well and errors \
                        were found; 2 when it never opened the CUDA driver, or brought \
                        a runtime that gave up; 126 and 127 when it could not be started, as in a shell."
)]
pub(crate) struct Options {
    /// What is checked: `all`, `none`, or some of init, races, arithmetic, performance with commas between them
    #[arg(long, value_name = "CHECKS", value_parser = checks)]
    checks: Option<String>,
    #[command(flatten)]
    emulated: Emulated,
    /// How many warp instructions a launch, or one block of it, may execute before it is stopped as one that does not end
    #[arg(long, value_name = "INSTRUCTIONS", value_parser = clap::value_parser!(u64).range(1..))]
    budget: Option<u64>,
    /// Show advice on speed, too
    #[arg(long)]
    advice: bool,
    /// Write what the program had the GPU do to this file: for `cargo run -p lesson-opportunities -- --trace FILE`
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Print one JSON object on standard output instead of text; what the program prints there goes to standard error
    #[arg(long)]
    json: bool,
    /// The program and its arguments
    #[arg(trailing_var_arg = true, required = true, value_name = "PROGRAM")]
    command: Vec<OsString>,
}

fn checks(text: &str) -> Result<String, String> {
    text.parse::<Checks>().map(|_| text.to_owned()).map_err(|unknown| fusion_diagnostic::unknown_check(&unknown))
}

/// Whether the driver will understand what the environment asks of it: the program's own words, if it cannot, are about something else.
#[cfg(target_os = "linux")]
fn surroundings(options: &Options) -> Result<(), String> {
    options.emulated.get().map(drop)
}

impl super::Run for Options {
    fn run(&self, _interrupt: &Interrupt) -> u8 {
        run(self)
    }
}

/// Runs the program and returns the exit code.
#[cfg(target_os = "linux")]
fn run(options: &Options) -> u8 {
    if let Err(failure) = surroundings(options) {
        output::note(&format!("error: {failure}"));
        return NOTHING_JUDGED;
    }
    let ran = match program::run(options) {
        Ok(ran) => ran,
        Err(failure) => {
            output::note(&format!("error: {}", failure.why));
            return failure.code;
        }
    };
    if let Some(path) = &options.trace
        && let Err(failure) = trace::write(path, &ran.processes)
    {
        output::note(&format!("error: {failure}"));
        return NOTHING_JUDGED;
    }
    let summary = summary::Summary::new(&options.command, ran);
    let said = if options.json {
        output::print(&summary.json())
    } else {
        output::note(summary.text(options.advice, output::look_of_stderr()).trim_end());
        true
    };
    if said { summary.exit_code() } else { NOTHING_JUDGED }
}

/// Elsewhere programs find their libraries by other rules.
#[cfg(not(target_os = "linux"))]
pub(crate) fn run(_options: &Options) -> u8 {
    output::note("error: `run` puts the emulated driver where Linux looks for libraries, and works on Linux only");
    NOTHING_JUDGED
}
