//! One case after another on one device.

use std::borrow::Cow;

use fusion_device::{Choice, Device, EmulatorOptions, OpenError};
use fusion_suite::Runner;

use crate::case::Case;
use crate::runner::{Failure, run};
use crate::sweep::{Swept, sweep};

/// Warp instructions that a case may execute on the emulated device: each is tiny, so one that needs more hangs.
const BUDGET: u64 = 1_000_000;

/// Runs cases one after another.
#[derive(Debug)]
pub struct Session {
    runner: Runner,
}

impl Session {
    /// Opens the device.
    ///
    /// # Errors
    /// As [`Device::open`].
    pub fn open(choice: Choice) -> Result<Self, OpenError> {
        let options = EmulatorOptions { instruction_budget: Some(BUDGET), ..EmulatorOptions::default() };
        Ok(Self { runner: Runner::open(choice, &options)? })
    }

    /// What the device calls itself; empty after a reset that failed.
    pub fn device_name(&self) -> &str {
        self.runner.device_name()
    }

    /// Runs a case. One for newer GPUs is skipped (`None`) on a real one. The emulated device executes what it knows on
    /// every profile, so there the case claims to be for the device that it runs on.
    ///
    /// # Errors
    /// The outer one when there is no device any more: nothing can be said about the case, nor about any later one.
    pub fn run(&mut self, case: &Case) -> Result<Option<Result<(), Failure>>, OpenError> {
        self.with(case, run)
    }

    /// Runs one of the sweep's [`cases`](crate::sweep::cases), and returns its results. Otherwise as [`run`](Self::run).
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn sweep(&mut self, case: &Case) -> Result<Option<Result<Swept, Failure>>, OpenError> {
        self.with(case, sweep)
    }

    fn with<T>(
        &mut self,
        case: &Case,
        run: impl FnOnce(&Case, &Device) -> Result<T, Failure>,
    ) -> Result<Option<Result<T, Failure>>, OpenError> {
        let on = |device: &Device| {
            let capability = device.properties.compute_capability;
            let mut case = Cow::Borrowed(case);
            if !case.is_for(capability) {
                if !device.is_emulated() {
                    return None;
                }
                case.to_mut().target = format!("sm_{}{}", capability.0, capability.1);
            }
            Some(run(&case, device))
        };
        self.runner.run(on, |result| matches!(result, Some(Err(failure)) if failure.breaks_context()))
    }
}
