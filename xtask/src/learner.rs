//! What a learner runs.

mod bench;
mod explain;
mod grade;
mod hint;
mod run;

use crate::interrupt::Interrupt;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Judge exercises: are they right, lean and fast?
    Grade(grade::Options),
    /// Time exercises over a sweep of sizes: the unfused chain, your kernel, the solution
    Bench(bench::Options),
    /// Run any program that uses CUDA on the emulated GPU, and say what was found
    Run(run::Options),
    /// Explain the code of a fault, such as E-RACE-SHARED; without one, list all codes
    Explain(explain::Options),
}

impl Command {
    /// Whether Ctrl-C is to be waited for: a program that is run deals with it itself, and what has nothing to say of it
    /// ends by it.
    pub(crate) fn listens(&self) -> bool {
        !matches!(self, Command::Run(_) | Command::Explain(_))
    }

    /// Runs and returns the exit code.
    pub(crate) fn run(&self, interrupt: &Interrupt) -> u8 {
        match self {
            Command::Grade(options) => grade::run(options, interrupt),
            Command::Bench(options) => bench::run(options, interrupt),
            Command::Run(options) => run::run(options),
            Command::Explain(options) => explain::run(options),
        }
    }
}
