//! A device that survives the cases that it runs.

use std::borrow::Cow;

use cudarc::driver::sys;
use fusion_device::{Choice, Device, EmulatorOptions, OpenError};

use crate::case::Case;
use crate::runner::{Failure, run};
use crate::sweep::{Swept, sweep};

/// Warp instructions that a case may execute on the emulated device: each is tiny, so one that needs more hangs.
const BUDGET: u64 = 1_000_000;

/// Runs cases one after another. A kernel that fails leaves its context unusable, on the emulated device as on a real
/// one; the session then resets the device, so that one failure is not the failure of everything after it.
#[derive(Debug)]
pub struct Session {
    device: Option<Device>,
}

impl Session {
    /// Opens the device.
    ///
    /// # Errors
    /// As [`Device::open`].
    pub fn open(choice: Choice) -> Result<Self, OpenError> {
        let options = EmulatorOptions { instruction_budget: Some(BUDGET), ..EmulatorOptions::default() };
        Ok(Self { device: Some(Device::open_with(choice, &options)?) })
    }

    /// What the device calls itself; empty after a reset that failed.
    pub fn device_name(&self) -> &str {
        self.device.as_ref().map_or("", |device| &device.properties.name)
    }

    /// Runs a case. One for newer GPUs is skipped (`None`) on a real one. The emulated device executes what it knows on every
    /// profile, so there the case claims to be for the device that it runs on.
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
        let device = match self.device.take() {
            Some(device) => device,
            // What was opened first stays for the life of the process, so this is the same kind of device.
            None => Device::open(Choice::Auto)?,
        };
        let capability = device.properties.compute_capability;
        let mut case = Cow::Borrowed(case);
        if !case.is_for(capability) {
            if !device.is_emulated() {
                self.device = Some(device);
                return Ok(None);
            }
            case.to_mut().target = format!("sm_{}{}", capability.0, capability.1);
        }
        let result = run(&case, &device);
        match &result {
            Err(failure) if failure.breaks_context() => reset(device),
            _ => self.device = Some(device),
        }
        Ok(Some(result))
    }
}

/// Destroys the primary context with all that is left in it.
fn reset(device: Device) {
    let ordinal = device.context.cu_device();
    drop(device);
    // SAFETY: every handle of the context went with the device above. A failure shows when the device is opened again.
    #[expect(unsafe_code, reason = "cudarc has no safe form of it")]
    let _ = unsafe { sys::cuDevicePrimaryCtxReset_v2(ordinal) };
}
