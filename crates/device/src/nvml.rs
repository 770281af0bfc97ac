//! The multiprocessors' clock, from NVML: NVIDIA's library for monitoring, which comes with its driver.
//!
//! Four functions of it are called here. A crate with all of NVML takes longer to build than it would save.

#![allow(unsafe_code)] // Opens a shared library and calls a few of its functions by name.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::fmt;

use cudarc::driver::sys::CUdevice_attribute as Attribute;
use libloading::Library;

use crate::Device;

const NAME: &str = if cfg!(windows) { "nvml.dll" } else { "libnvidia-ml.so.1" };
/// `NVML_CLOCK_SM` of `nvmlClockType_t` (NVML API reference, "Device Enums").
const CLOCK_SM: c_int = 1;

/// A device's clock, while NVML answers.
pub struct SmClock {
    /// `nvmlDeviceGetClockInfo`.
    clock_info: unsafe extern "C" fn(*mut c_void, c_int, *mut c_uint) -> c_int,
    /// An `nvmlDevice_t`.
    device: *mut c_void,
    shutdown: unsafe extern "C" fn() -> c_int,
    /// What the functions are in.
    _library: Library,
}

impl SmClock {
    /// The clock of this device; `None` of the emulated one, and where there is no NVML or it does not know the device.
    pub fn of(device: &Device) -> Option<Self> {
        if device.emulator().is_some() {
            return None;
        }
        Self::at(&pci_bus_id(device)?)
    }

    fn at(bus: &CStr) -> Option<Self> {
        // SAFETY: opening NVML runs its initialisers, which any program that monitors a GPU does.
        let library = unsafe { Library::new(NAME) }.ok()?;
        // SAFETY: these are the signatures of the NVML API (nvml.h).
        let (init, find, clock_info, shutdown) = unsafe {
            let init = *library.get::<unsafe extern "C" fn() -> c_int>(b"nvmlInit_v2\0").ok()?;
            let find = *library
                .get::<unsafe extern "C" fn(*const c_char, *mut *mut c_void) -> c_int>(
                    b"nvmlDeviceGetHandleByPciBusId_v2\0",
                )
                .ok()?;
            let clock_info = *library
                .get::<unsafe extern "C" fn(*mut c_void, c_int, *mut c_uint) -> c_int>(b"nvmlDeviceGetClockInfo\0")
                .ok()?;
            let shutdown = *library.get::<unsafe extern "C" fn() -> c_int>(b"nvmlShutdown\0").ok()?;
            (init, find, clock_info, shutdown)
        };
        // SAFETY: it takes nothing.
        if unsafe { init() } != 0 {
            return None;
        }
        // From here on what was initialised is shut down when this is dropped.
        let mut clock = Self { clock_info, device: std::ptr::null_mut(), shutdown, _library: library };
        // SAFETY: NVML is initialised; both pointers are to what lives through the call.
        let known = unsafe { find(bus.as_ptr(), &raw mut clock.device) } == 0;
        (known && clock.mhz().is_some()).then_some(clock)
    }

    /// What it is now, in MHz.
    pub fn mhz(&self) -> Option<u32> {
        let mut mhz = 0;
        // SAFETY: NVML is initialised until this is dropped, the handle came from it, and `mhz` lives through the call.
        let answered = unsafe { (self.clock_info)(self.device, CLOCK_SM, &raw mut mhz) } == 0;
        answered.then_some(mhz)
    }
}

impl Drop for SmClock {
    fn drop(&mut self) {
        // SAFETY: it was initialised, once, when this was made.
        unsafe { (self.shutdown)() };
    }
}

impl fmt::Debug for SmClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SmClock").finish_non_exhaustive()
    }
}

/// Where the device sits, which is how NVML and CUDA agree on which one is meant.
fn pci_bus_id(device: &Device) -> Option<CString> {
    let attribute = |which| device.context.attribute(which).ok();
    let domain = attribute(Attribute::CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID)?;
    let bus = attribute(Attribute::CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)?;
    let device = attribute(Attribute::CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)?;
    CString::new(format!("{domain:08x}:{bus:02x}:{device:02x}.0")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_no_clock_of_a_device_that_is_not_there() {
        assert!(SmClock::at(c"ffffffff:ff:1f.0").is_none());
    }
}
