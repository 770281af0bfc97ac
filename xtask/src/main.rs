//! The course's command line. Alone it says where you are; `cargo xtask grade day22` judges your answers; `cargo xtask verify` judges the course, and
//! `cargo xtask explain` says what a fault means.
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod build;
mod command;
#[cfg(target_os = "linux")]
mod confine;
#[cfg(target_os = "linux")]
mod contained;
mod date;
mod device;
mod emulated;
mod interrupt;
mod judge;
mod learner;
mod maintainer;
mod output;
mod paint;
mod parallel;
mod plain;
mod process;
mod programs;
mod progress;
mod sweep;
mod target;
mod toolchain;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", version, about = "Grades the course's exercises and verifies the course itself")]
#[command(after_help = "Exit codes: 0 everything passed, 1 graded and failed, 2 could not be graded, 130 interrupted.")]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    #[command(flatten)]
    Learner(learner::Command),
    #[command(flatten)]
    Maintainer(maintainer::Command),
    /// Run a file of the playground
    #[command(hide = true)]
    Playing(learner::Playing),
    /// Run a program that may do little
    #[cfg(target_os = "linux")]
    #[command(hide = true)]
    Confined(confine::Options),
    /// Judge one submission whose Rust code is in another process
    #[cfg(target_os = "linux")]
    #[command(hide = true)]
    Contained(contained::Options),
}

/// The command line as data.
fn command_line() -> clap::Command {
    <Cli as clap::CommandFactory>::command()
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
    let listens = match &cli.command {
        None => false,
        Some(Command::Learner(command)) => command.listens(),
        Some(Command::Maintainer(command)) => command.listens(),
        Some(Command::Playing(_)) => false,
        #[cfg(target_os = "linux")]
        Some(Command::Confined(_) | Command::Contained(_)) => false,
    };
    let interrupt = if listens { interrupt::Interrupt::listen() } else { interrupt::Interrupt::default() };
    let judged = std::panic::catch_unwind(|| match &cli.command {
        None => learner::status().into(),
        Some(Command::Learner(command)) => command.run(&interrupt).into(),
        Some(Command::Maintainer(command)) => command.run(&interrupt).into(),
        Some(Command::Playing(worker)) => worker.run(),
        #[cfg(target_os = "linux")]
        Some(Command::Confined(options)) => confine::run(options).into(),
        #[cfg(target_os = "linux")]
        Some(Command::Contained(options)) => contained::run(options),
    });
    judged.unwrap_or(ExitCode::from(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_book_names_every_command() {
        let page = include_str!("../../book/src/appendix/commands.md");
        for command in command_line().get_subcommands().filter(|command| !command.is_hide_set()) {
            let row = format!("| `cargo xtask {}", command.get_name());
            assert!(page.lines().any(|line| line.starts_with(&row)), "{row} is not in commands.md");
        }
    }
}
