//! What a learner runs.
//!
//! A command is a module with `Options`, which run, and a line in the list below.

mod bench;
mod choice;
mod completions;
mod counters;
mod diff;
mod doctor;
mod explain;
mod files;
mod grade;
mod hint;
mod history;
mod json;
mod list;
mod man;
mod ncu;
mod next;
mod play;
mod profile;
mod quiz;
mod reset;
mod run;
mod saved;
mod solution;
mod state;
mod status;
mod update;
mod watch;

use crate::interrupt::Interrupt;
pub(crate) use choice::tell;
pub(crate) use files::write as write_file;
pub(crate) use play::Worker as Playing;

/// What every command's options do.
trait Run {
    /// Whether Ctrl-C is to be waited for: a program that is run deals with it itself, and what has nothing to say of it ends by it.
    const LISTENS: bool = false;

    /// Runs and returns the exit code.
    fn run(&self, interrupt: &Interrupt) -> u8;
}

macro_rules! commands {
    ($($(#[$about:meta])* $Name:ident($module:ident),)*) => {
        #[derive(Debug, clap::Subcommand)]
        pub(crate) enum Command {
            $($(#[$about])* $Name($module::Options),)*
        }

        impl Command {
            pub(crate) fn listens(&self) -> bool {
                match self {
                    $(Self::$Name(_) => <$module::Options as Run>::LISTENS,)*
                }
            }

            /// Runs and returns the exit code.
            pub(crate) fn run(&self, interrupt: &Interrupt) -> u8 {
                match self {
                    $(Self::$Name(options) => options.run(interrupt),)*
                }
            }
        }
    };
}

// In the order in which `--help` lists them.
commands! {
    /// Judge exercises: are they right, lean and fast?
    Grade(grade),
    /// Grade the exercise that you are at whenever you save it
    Watch(watch),
    /// Say which exercise comes next: its files, its page, the command
    Next(next),
    /// List all exercises: how each stands, and your best time
    List(list),
    /// Print the first hints for an exercise
    Hint(hint),
    /// Show your attempts: verdict, bytes, time; the best is marked
    History(history),
    /// Show what you changed in the starter, and after a pass how the solutions do it
    Diff(diff),
    /// Show the reference solution, after yours passes
    Solution(solution),
    /// Make an exercise what it was at first; your work is saved, and can be brought back
    Reset(reset),
    /// Predict before you measure: bytes, launches, speedup, what bounds it; and the book's knowledge checks
    Quiz(quiz),
    /// Time exercises over a sweep of sizes: the unfused chain, your kernel, the solution
    Bench(bench),
    /// Say what bounds a kernel, line by line
    Profile(profile),
    /// Print a GPU's counters before and after fusion: time, bytes of DRAM, L2 hits, occupancy, registers
    Counters(counters),
    /// Run a kernel of your own, on buffers that a comment at its top describes
    Play(play),
    /// Run any program that uses CUDA on the emulated GPU, and say what was found
    Run(run),
    /// Take a newer course, and keep every answer
    Update(update),
    /// Say what is wrong with this machine, and what fixes it
    Doctor(doctor),
    /// Explain a code, such as E-RACE-SHARED, or what your kernel of an exercise became; alone, list all codes
    Explain(explain),
    /// Print a script with which a shell completes commands, exercises and codes
    Completions(completions),
    /// Print a page for `man`
    Man(man),
}

/// Where the learner is: what `cargo xtask` says without a command. Returns the exit code.
pub(crate) fn status() -> u8 {
    status::run()
}

/// Nanoseconds as microseconds with four digits.
fn microseconds(ns: f64) -> String {
    let us = ns / 1e3;
    let digits = if us >= 1000.0 {
        0
    } else if us >= 100.0 {
        1
    } else if us >= 10.0 {
        2
    } else {
        3
    };
    format!("{us:.digits$}")
}
