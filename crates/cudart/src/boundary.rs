//! The C boundary, both ways: functions for programs, and the driver's functions for us.

use std::ffi::{CStr, CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use libloading::Library;

use crate::error::{Error, Result};

/// An address, of the host or of the device. The two never overlap.
pub(crate) type Ptr = *mut c_void;
/// A stream, an event, a function or whatever else the driver has given out.
pub(crate) type Handle = *mut c_void;

/// Exports functions of the runtime API. Each returns a `cudaError_t`, which `cudaGetLastError` also tells, and never unwinds.
macro_rules! export {
    ($($(#[$meta:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block)*) => {$(
        $(#[$meta])*
        #[allow(non_snake_case, clippy::too_many_arguments)]
        #[unsafe(no_mangle)]
        pub(crate) extern "C" fn $name($($arg: $ty),*) -> u32 {
            $crate::error::remember($crate::boundary::guard(stringify!($name), move || $body))
        }
    )*};
}
pub(crate) use export;

/// Declares functions of the driver. They are looked up when they are first called.
macro_rules! driver {
    ($(fn $name:ident($($arg:ident: $ty:ty),* $(,)?);)*) => {$(
        /// The driver's function of this name, for arguments that were passed to us for it or that outlive the call.
        #[allow(non_snake_case, clippy::too_many_arguments)]
        pub(crate) fn $name($($arg: $ty),*) -> $crate::error::Result {
            static ADDRESS: std::sync::OnceLock<Option<usize>> = std::sync::OnceLock::new();
            let address = $crate::boundary::find(&ADDRESS, stringify!($name))?;
            // SAFETY: this is the function's signature in cuda.h. Pointers are a caller's, who by the CUDA API's contract passes valid
            // ones to us as to the driver, or ours, to values that outlive the call.
            let code = unsafe {
                let function: extern "C" fn($($ty),*) -> u32 = std::mem::transmute(address);
                function($($arg),*)
            };
            $crate::error::Error::of(code)
        }
    )*};
}
pub(crate) use driver;

/// Runs the body of an exported function; a panic becomes an error code, for it must not cross into C.
pub(crate) fn guard(name: &str, body: impl FnOnce() -> Result) -> Result {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| {
        say(&format!("{name} panicked: this is a bug of the emulated CUDA runtime"));
        Err(Error::UNKNOWN)
    })
}

/// Writes a result through a caller's pointer.
pub(crate) fn put<T>(out: *mut T, value: T) -> Result {
    if out.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    // SAFETY: not null, so by the CUDA API's contract it points to room for a T.
    unsafe { out.write_unaligned(value) };
    Ok(())
}

/// Reads an argument through a caller's pointer.
pub(crate) fn get<T: Copy>(from: *const T) -> Result<T> {
    if from.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    // SAFETY: not null, so by the CUDA API's contract it points to a T.
    Ok(unsafe { from.read_unaligned() })
}

/// A name that the compiler has put into the program.
pub(crate) fn text(from: *const c_char) -> Option<CString> {
    // SAFETY: not null, so it is the string that the compiler has passed.
    (!from.is_null()).then(|| unsafe { CStr::from_ptr(from) }.to_owned())
}

fn library() -> Option<&'static Library> {
    static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();
    // SAFETY: opening the driver runs its initialisers, which every CUDA program does.
    let open = || unsafe { Library::new(if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" }) }.ok();
    LIBRARY.get_or_init(open).as_ref()
}

fn address(name: &str) -> Option<usize> {
    let name = CString::new(name).ok()?;
    // SAFETY: only the address is looked at; who calls it states its signature.
    let symbol = unsafe { library()?.get::<extern "C" fn()>(name.as_bytes_with_nul()) }.ok()?;
    Some(*symbol as usize)
}

/// The address of one of the driver's functions.
pub(crate) fn find(known: &OnceLock<Option<usize>>, name: &str) -> Result<usize> {
    if library().is_none() {
        return Err(Error::INSUFFICIENT_DRIVER);
    }
    known.get_or_init(|| address(name)).ok_or(Error::CALL_REQUIRES_NEWER_DRIVER)
}

/// Says something, once for every different text, where the emulated driver says what it has to say.
pub(crate) fn say(text: &str) {
    let (Some(address), Ok(text)) = (address("fusion_emulator_say"), CString::new(text)) else { return };
    // SAFETY: only the emulated driver has this name, with this signature.
    let say: extern "C" fn(*const c_char) = unsafe { std::mem::transmute(address) };
    say(text.as_ptr());
}
