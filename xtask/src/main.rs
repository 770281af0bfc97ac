//! The course's command line. `cargo xtask grade day22` judges your answers; `cargo xtask verify` judges the course, and
//! `cargo xtask explain` says what a fault means.
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod bench;
mod book;
mod build;
mod clients;
mod explain;
mod grade;
mod hint;
mod interrupt;
mod judge;
mod output;
mod parallel;
mod process;
mod programs;
mod progress;
mod registers;
mod rivals;
mod run;
mod target;
mod toolchain;
mod verify;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", version, about = "Grades the course's exercises and verifies the course itself")]
#[command(after_help = "Exit codes: 0 everything passed, 1 graded and failed, 2 could not be graded, 130 interrupted.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Judge exercises: are they right, lean and fast?
    Grade(grade::Options),
    /// Time exercises over a sweep of sizes: the unfused chain, your kernel, the solution
    Bench(bench::Options),
    /// Time the solutions beside PyTorch, torch.compile, Triton and Liger, on a GPU
    Rivals(rivals::Options),
    /// Run any program that uses CUDA on the emulated GPU, and say what was found
    Run(run::Options),
    /// Explain the code of a fault, such as E-RACE-SHARED; without one, list all codes
    Explain(explain::Options),
    /// Check the course: starters fail, solutions pass, wrong kernels are refused for the stated reason
    Verify(verify::Options),
    /// Check programs of strangers: numba-cuda's, nvcc's and one in C, from packages that are fetched
    Clients(clients::Options),
    /// Compare registers and memory of the course's kernels with what a GPU's driver says; without a GPU, list them
    Registers(registers::Options),
    /// Make the book's formulas and outputs anew, check them, or check every page in a browser
    Book(book::Options),
}

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(|at| format!(" at {}:{}", at.file(), at.line())).unwrap_or_default();
        let text = panic.payload().downcast_ref::<&str>().copied();
        let what =
            text.or_else(|| panic.payload().downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
        output::note(&format!(
            "internal error{place}: {what}\nThis is a mistake in the grader, not in your code: please report it."
        ));
    }));
    let cli = Cli::parse();
    // A program that is run deals with Ctrl-C itself, and what has nothing to say of an interrupt ends by it.
    let interrupt = match &cli.command {
        Command::Run(_) | Command::Registers(_) | Command::Book(_) | Command::Explain(_) => {
            interrupt::Interrupt::default()
        }
        _ => interrupt::Interrupt::listen(),
    };
    let judged = std::panic::catch_unwind(|| match &cli.command {
        Command::Grade(options) => grade::run(options, &interrupt),
        Command::Bench(options) => bench::run(options, &interrupt),
        Command::Explain(options) => explain::run(options),
        Command::Rivals(options) => rivals::run(options, &interrupt),
        Command::Verify(options) => verify::run(options, &interrupt),
        Command::Registers(options) => registers::run(options),
        Command::Book(options) => book::run(options),
        Command::Run(options) => run::run(options),
        Command::Clients(options) => clients::run(options, &interrupt),
    });
    ExitCode::from(judged.unwrap_or(2))
}
