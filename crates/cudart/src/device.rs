//! The device, and the context in which everything happens: device 0's primary one, as with every CUDA runtime.

use std::ffi::{c_char, c_int, c_uint};
use std::sync::Mutex;

use crate::boundary::{Handle, driver, export, put};
use crate::error::{Error, Result};
use crate::registry;

/// This runtime's version: CUDA 13.0.
const VERSION: c_int = 13000;
/// The version whose meaning of plain names `cudaGetDriverEntryPoint` looks up.
const ENTRY_POINTS: c_uint = 13000;

driver! {
    fn cuInit(flags: c_uint);
    fn cuDriverGetVersion(version: *mut c_int);
    fn cuDeviceGetCount(count: *mut c_int);
    fn cuDevicePrimaryCtxRetain(context: *mut Handle, device: c_int);
    fn cuDevicePrimaryCtxReset_v2(device: c_int);
    fn cuCtxGetCurrent(context: *mut Handle);
    fn cuCtxSetCurrent(context: Handle);
    fn cuGetProcAddress_v2(symbol: *const c_char, function: *mut Handle, version: c_int, flags: u64, status: *mut c_int);
}

/// The primary context, as an address; none before it is first needed and after a reset.
static PRIMARY: Mutex<Option<usize>> = Mutex::new(None);

/// Makes the primary context current on threads that have none. A program may also have made one itself, by the driver API.
pub(crate) fn begin() -> Result {
    let mut current = std::ptr::null_mut();
    if cuCtxGetCurrent(&raw mut current).is_ok() && !current.is_null() && is_alive(current) {
        return Ok(());
    }
    let mut primary = PRIMARY.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let context = match *primary {
        Some(context) => context as Handle,
        None => {
            cuInit(0)?;
            let mut context = std::ptr::null_mut();
            cuDevicePrimaryCtxRetain(&raw mut context, 0)?;
            *primary = Some(context as usize);
            context
        }
    };
    cuCtxSetCurrent(context)
}

/// Whether a context that is current is not one that a reset has destroyed.
fn is_alive(context: Handle) -> bool {
    let destroyed = DESTROYED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    !destroyed.contains(&(context as usize))
}

/// Contexts that a reset has destroyed, which may still be current on other threads.
static DESTROYED: Mutex<Vec<usize>> = Mutex::new(Vec::new());

fn only(device: c_int) -> Result {
    if device == 0 { Ok(()) } else { Err(Error::INVALID_DEVICE) }
}

fn reset() -> Result {
    begin()?;
    registry::forget_modules();
    let context = PRIMARY.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
    DESTROYED.lock().unwrap_or_else(std::sync::PoisonError::into_inner).extend(context);
    cuDevicePrimaryCtxReset_v2(0)
}

fn entry_point(
    symbol: *const c_char,
    function: *mut Handle,
    version: c_uint,
    flags: u64,
    status: *mut c_int,
) -> Result {
    begin()?;
    let mut found = 0;
    // The driver answers with an error what the runtime tells by the status alone.
    let result = cuGetProcAddress_v2(symbol, function, version as c_int, flags, &raw mut found);
    if status.is_null() { result } else { put(status, found) }
}

export! {
    fn cudaGetDeviceCount(count: *mut c_int) {
        cuInit(0)?;
        cuDeviceGetCount(count)
    }

    fn cudaSetDevice(device: c_int) {
        only(device)?;
        begin()
    }

    fn cudaInitDevice(device: c_int, _device_flags: c_uint, _flags: c_uint) {
        only(device)?;
        begin()
    }

    fn cudaGetDevice(device: *mut c_int) {
        put(device, 0)
    }

    fn cudaChooseDevice(device: *mut c_int, _properties: Handle) {
        put(device, 0)
    }

    fn cudaSetValidDevices(_devices: *mut c_int, _count: c_int) {
        Ok(())
    }

    fn cudaSetDeviceFlags(_flags: c_uint) {
        Ok(())
    }

    fn cudaGetDeviceFlags(flags: *mut c_uint) {
        put(flags, 0)
    }

    fn cudaDeviceReset() {
        reset()
    }

    fn cudaThreadExit() {
        reset()
    }

    fn cudaDriverGetVersion(version: *mut c_int) {
        // Without a driver this is 0, and no error.
        cuDriverGetVersion(version).or_else(|_| put(version, 0))
    }

    fn cudaRuntimeGetVersion(version: *mut c_int) {
        put(version, VERSION)
    }

    fn cudaGetDriverEntryPoint(symbol: *const c_char, function: *mut Handle, flags: u64, status: *mut c_int) {
        entry_point(symbol, function, ENTRY_POINTS, flags, status)
    }

    fn cudaGetDriverEntryPointByVersion(
        symbol: *const c_char,
        function: *mut Handle,
        version: c_uint,
        flags: u64,
        status: *mut c_int,
    ) {
        entry_point(symbol, function, version, flags, status)
    }
}
