//! One case after another on one device.

use fusion_device::{Choice, EmulatorOptions, OpenError};
use fusion_machine::{Checks, Fault};
use fusion_suite::Runner;

use crate::case::Case;
use crate::runner::{Failure, Outcome, run};

/// Warp instructions that a case may execute on the emulated device: each is small, so one that needs more hangs.
const BUDGET: u64 = 1 << 26;

/// The same for one block.
const BLOCK_BUDGET: u64 = 1 << 19;

/// Runs cases one after another, each in a context of its own.
#[derive(Debug)]
pub struct Session {
    runner: Runner,
}

impl Session {
    /// Opens the device.
    ///
    /// # Errors
    /// As [`fusion_device::Device::open`].
    pub fn open(choice: Choice) -> Result<Self, OpenError> {
        let options = EmulatorOptions {
            instruction_budget: Some(BUDGET),
            block_budget: Some(BLOCK_BUDGET),
            // Reports must not depend on how many cores there are.
            workers: Some(1),
            // The device keeps its checks for life, so what a case did not ask for is left out afterwards.
            checks: Some(Checks::ALL),
            // A case has no host program of its own.
            allocation_sites: Some(false),
            ..EmulatorOptions::default()
        };
        Ok(Self { runner: Runner::open(choice, &options)? })
    }

    /// Runs a case.
    ///
    /// # Errors
    /// When it could not be run at all. What is found, and what the driver says to it, is in the outcome.
    pub fn run(&mut self, case: &Case) -> Result<Outcome, Failure> {
        self.runner.run(|device| run(case, device), |_| true).map_err(Failure::Open)?
    }
}

/// Runs a kernel file on the emulated device and returns what was found. See [`Case`] for its directives.
///
/// Not to be used from two threads at once: there is one device, and its report is everybody's.
///
/// # Errors
/// When it could not be run at all: a directive that cannot be understood, a source that does not compile.
pub fn run_source(name: &str, text: &str) -> Result<Vec<Fault>, Failure> {
    let case = Case::parse(name, text).map_err(Failure::Parse)?;
    let mut session = Session::open(Choice::Emulated).or_else(|error| match error {
        // It is open already, with the settings that it has.
        OpenError::Emulator(_) => Ok(Session { runner: Runner::again(Choice::Emulated) }),
        error => Err(Failure::Open(error)),
    })?;
    session.run(&case).map(|outcome| outcome.faults)
}
