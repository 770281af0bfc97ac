//! What those run who keep the course: they judge the course itself, and what it is made of.

mod book;
mod calibrate;
mod choices;
mod clients;
mod measure;
mod new;
mod registers;
mod rivals;
mod validate;
mod verdicts;
mod verify;

use crate::interrupt::Interrupt;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Check the course: starters fail, solutions pass, wrong kernels are refused for the stated reason
    Verify(verify::Options),
    /// Write the files of a new exercise, which `verify` accepts once they are filled in
    New(new::Options),
    /// Time the solutions beside PyTorch, torch.compile, Triton and Liger, on a GPU
    Rivals(rivals::Options),
    /// Time everything that can be launched alone, on a GPU, for the emulated device's clock to be compared with
    Measure(measure::Options),
    /// Write a profile of the GPU at hand, whose clock is fitted to the times of a few kernels
    Calibrate(calibrate::Options),
    /// Compare the times that the emulated device predicts with those that were measured, without a GPU
    Validate(validate::Options),
    /// Check programs of strangers: numba-cuda's, nvcc's and one in C, from packages that are fetched
    Clients(clients::Options),
    /// Compare registers and memory of the course's kernels with what a GPU's driver says; without a GPU, list them
    Registers(registers::Options),
    /// Make the book's formulas and outputs anew, check them, or check every page in a browser
    Book(book::Options),
}

impl Command {
    /// Whether Ctrl-C is to be waited for: what has nothing to say of it ends by it.
    pub(crate) fn listens(&self) -> bool {
        !matches!(
            self,
            Command::New(_) | Command::Registers(_) | Command::Book(_) | Command::Validate(_) | Command::Calibrate(_)
        )
    }

    /// Runs and returns the exit code.
    pub(crate) fn run(&self, interrupt: &Interrupt) -> u8 {
        match self {
            Command::Verify(options) => verify::run(options, interrupt),
            Command::New(options) => new::run(options),
            Command::Rivals(options) => rivals::run(options, interrupt),
            Command::Measure(options) => measure::run(options, interrupt),
            Command::Calibrate(options) => calibrate::run(options),
            Command::Validate(options) => validate::run(options, interrupt),
            Command::Clients(options) => clients::run(options, interrupt),
            Command::Registers(options) => registers::run(options),
            Command::Book(options) => book::run(options),
        }
    }
}
