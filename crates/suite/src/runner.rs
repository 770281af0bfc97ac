//! A device that survives the cases that it runs.

use cudarc::driver::sys;
use fusion_device::{Choice, Device, EmulatorOptions, OpenError};

/// Runs cases one after another. A kernel that fails leaves its context unusable, on the emulated device as on a real one;
/// the device is then reset, so that one failure is not the failure of everything after it.
#[derive(Debug)]
pub struct Runner {
    choice: Choice,
    device: Option<Device>,
}

impl Runner {
    /// Opens the device.
    ///
    /// # Errors
    /// As [`Device::open`].
    pub fn open(choice: Choice, options: &EmulatorOptions) -> Result<Self, OpenError> {
        Ok(Self { choice, device: Some(Device::open_with(choice, options)?) })
    }

    /// For a device that this process has open already, with the settings that it has.
    pub fn again(choice: Choice) -> Self {
        Self { choice, device: None }
    }

    /// What the device calls itself; empty after a reset, until the next case.
    pub fn device_name(&self) -> &str {
        self.device.as_ref().map_or("", |device| &device.properties.name)
    }

    /// Runs a case. Afterwards the context is replaced if the case `breaks` it.
    ///
    /// # Errors
    /// When there is no device any more: nothing can be said about the case, nor about any later one.
    pub fn run<T>(&mut self, case: impl FnOnce(&Device) -> T, breaks: impl FnOnce(&T) -> bool) -> Result<T, OpenError> {
        let device = match self.device.take() {
            Some(device) => device,
            // What was opened first stays for the life of the process, so this is the same device.
            None => Device::open(self.choice)?,
        };
        let result = case(&device);
        match breaks(&result) {
            true => reset(device),
            false => self.device = Some(device),
        }
        Ok(result)
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
