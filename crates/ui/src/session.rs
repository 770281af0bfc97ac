//! A device that survives the cases that it runs.

use cudarc::driver::sys;
use fusion_device::{Choice, Device, EmulatorOptions, OpenError};
use fusion_machine::{Checks, Fault};

use crate::case::Case;
use crate::runner::{Failure, Outcome, run};

/// Warp instructions that a case may execute on the emulated device: each is small, so one that needs more hangs.
const BUDGET: u64 = 1 << 26;

/// The same for one block.
const BLOCK_BUDGET: u64 = 1 << 19;

/// Runs cases one after another, each in a context of its own: a kernel that fails leaves its context unusable.
#[derive(Debug)]
pub struct Session {
    choice: Choice,
}

impl Session {
    /// Opens the device.
    ///
    /// # Errors
    /// As [`Device::open`].
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
        Device::open_with(choice, &options)?;
        Ok(Self { choice })
    }

    /// Runs a case.
    ///
    /// # Errors
    /// When it could not be run at all. What is found, and what the driver says to it, is in the outcome.
    pub fn run(&mut self, case: &Case) -> Result<Outcome, Failure> {
        let device = Device::open(self.choice).map_err(Failure::Open)?;
        let outcome = run(case, &device);
        reset(device);
        outcome
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
        OpenError::Emulator(_) => Ok(Session { choice: Choice::Emulated }),
        error => Err(Failure::Open(error)),
    })?;
    session.run(&case).map(|outcome| outcome.faults)
}

/// Destroys the primary context with all that is left in it.
fn reset(device: Device) {
    let ordinal = device.context.cu_device();
    drop(device);
    // SAFETY: every handle of the context went with the device above. A failure shows when the device is opened again.
    #[expect(unsafe_code, reason = "cudarc has no safe form of it")]
    let _ = unsafe { sys::cuDevicePrimaryCtxReset_v2(ordinal) };
}
