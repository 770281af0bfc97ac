//! Finding a driver library and making cudarc find it too.

#![allow(unsafe_code)] // Opens shared libraries and calls a few of their functions by name.

use std::ffi::{CStr, c_char, c_int, c_uint};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use cudarc::driver::{DriverError, sys};
use libloading::Library;

use crate::{Choice, Emulator, Kind, OpenError};

/// What this process uses from now on.
pub(crate) enum Driver {
    Gpu,
    /// With the reason for which there is no real one, when that was looked for.
    Emulated(Emulator, Option<OpenError>),
}

/// The CUDA release whose API cudarc is built for (its `cuda-12000` feature).
const OLDEST_DRIVER: (u32, u32) = (12, 0);

/// The file name of the emulated driver, as cargo leaves it.
const EMULATOR: &str = if cfg!(windows) {
    "fusion_driver.dll"
} else if cfg!(target_os = "macos") {
    "libfusion_driver.dylib"
} else {
    "libfusion_driver.so"
};

/// Which kind this process has settled on. The loader's state belongs to the process, so this must as well.
static SETTLED: Mutex<Option<Kind>> = Mutex::new(None);

/// Opens a driver library that fits the choice, so that cudarc's search ends at it.
pub(crate) fn open(choice: Choice) -> Result<Driver, OpenError> {
    // A panic in here leaves nothing half done that matters: either cudarc's search was made or it was not.
    let mut settled = SETTLED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let (kind, no_gpu) = match (*settled, choice) {
        (Some(kind @ Kind::Gpu), Choice::Auto | Choice::Gpu) => (kind, None),
        (Some(kind @ Kind::Emulated), Choice::Auto | Choice::Emulated) => (kind, None),
        (Some(open), _) => return Err(OpenError::OtherKind { open }),
        (None, Choice::Gpu) => probe().map(|()| (Kind::Gpu, None))?,
        (None, Choice::Emulated) => open_emulator().map(|()| (Kind::Emulated, None))?,
        (None, Choice::Auto) => match probe() {
            Ok(()) => (Kind::Gpu, None),
            Err(reason) => open_emulator().map(|()| (Kind::Emulated, Some(reason)))?,
        },
    };
    let driver = bind(kind, no_gpu)?;
    *settled = Some(kind);
    Ok(driver)
}

/// The CUDA release that the opened driver supports.
pub(crate) fn driver_version() -> Result<(u32, u32), DriverError> {
    let mut version: c_int = 0;
    // SAFETY: only called on an open device, so the library is there; the pointer is to a live integer.
    unsafe { sys::cuDriverGetVersion(&raw mut version) }.result()?;
    Ok(release(version))
}

/// What the system's loader said. libloading keeps that in the error's source.
pub(crate) fn reason(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

/// 12040 is 12.4.
fn release(version: c_int) -> (u32, u32) {
    let version = u32::try_from(version).unwrap_or(0);
    (version / 1000, version % 1000 / 10)
}

/// Whether a real driver with a device is there, found out without cudarc: its search is made once and for all, and
/// would end at a driver that has no device.
fn probe() -> Result<(), OpenError> {
    // Not `libcuda.so`, cudarc's first name: the loader would remember that name for the real driver even when the
    // emulated one is wanted in the end, and the toolkit's stubs have it too.
    let name = if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" };
    // SAFETY: opening the driver runs its initialisers, which every CUDA program does.
    let library = unsafe { Library::new(name) };
    let library = library.map_err(|error| OpenError::NoDriver { detail: reason(&error) })?;
    let missing = |error: libloading::Error| OpenError::NoDriver { detail: reason(&error) };
    // SAFETY: only looked for, not called.
    if unsafe { library.get::<unsafe extern "C" fn()>(b"fusion_emulator_version\0") }.is_ok() {
        // `cargo xtask run` has put it there, for programs that know of no other.
        return Err(OpenError::NoDriver { detail: "the driver that the loader finds is the emulated one".to_owned() });
    }
    // SAFETY: these are the signatures of the driver API (cuda.h), and the pointers given are to live variables.
    unsafe {
        let init = *library.get::<extern "C" fn(c_uint) -> c_int>(b"cuInit\0").map_err(missing)?;
        let count = *library.get::<extern "C" fn(*mut c_int) -> c_int>(b"cuDeviceGetCount\0").map_err(missing)?;
        let version = *library.get::<extern "C" fn(*mut c_int) -> c_int>(b"cuDriverGetVersion\0").map_err(missing)?;
        let text = *library
            .get::<extern "C" fn(c_int, *mut *const c_char) -> c_int>(b"cuGetErrorString\0")
            .map_err(missing)?;
        let refused = |code: c_int| {
            let mut message: *const c_char = std::ptr::null();
            let known = text(code, &raw mut message) == 0 && !message.is_null();
            let text =
                if known { CStr::from_ptr(message).to_string_lossy().into_owned() } else { "unknown error".to_owned() };
            OpenError::NoDevice { code, text }
        };
        let (mut devices, mut supports) = (0, 0);
        for code in [init(0), version(&raw mut supports), count(&raw mut devices)] {
            if code != 0 {
                return Err(refused(code));
            }
        }
        if devices == 0 {
            return Err(OpenError::NoDevice { code: 100, text: "no CUDA-capable device is detected".to_owned() });
        }
        if release(supports) < OLDEST_DRIVER {
            return Err(OpenError::OldDriver { driver: release(supports), needed: OLDEST_DRIVER });
        }
    }
    // The driver stays for the life of the process, as cudarc keeps it.
    std::mem::forget(library);
    Ok(())
}

/// Opens the emulated driver under the name that cudarc looks for first.
fn open_emulator() -> Result<(), OpenError> {
    let path = find_emulator()?;
    let bad = |why: String| OpenError::BadEmulator { path: path.clone(), why };
    let disguised = disguise(&path).map_err(|error| bad(error.to_string()))?;
    // SAFETY: the library is this workspace's own; opening it runs no code but Rust's.
    let library = unsafe { Library::new(&disguised) }.map_err(|error| bad(reason(&error)))?;
    // Closing it would let cudarc's later search go elsewhere.
    std::mem::forget(library);
    Ok(())
}

/// `FUSION_EMULATOR`, else the places where cargo or a copying hand leaves it.
pub(crate) fn find_emulator() -> Result<PathBuf, OpenError> {
    if let Some(path) = std::env::var_os("FUSION_EMULATOR").filter(|path| !path.is_empty()) {
        let path = PathBuf::from(path);
        return match std::path::absolute(&path) {
            Ok(path) if path.is_file() => Ok(path),
            _ => Err(OpenError::BadEmulator {
                path,
                why: "FUSION_EMULATOR names it, and there is no such file".to_owned(),
            }),
        };
    }
    find_beside(EMULATOR)
}

/// A library of this workspace, in the places where cargo or a copying hand leaves it.
pub(crate) fn find_beside(file: &str) -> Result<PathBuf, OpenError> {
    let program = std::env::current_exe().unwrap_or_default();
    let mut tried = candidates(&program, file);
    // Programs that run from elsewhere, such as documentation tests, have cargo's directories on the loader path.
    let variable = if cfg!(windows) { "PATH" } else { "LD_LIBRARY_PATH" };
    let loader_path = std::env::var_os(variable).unwrap_or_default();
    tried.extend(std::env::split_paths(&loader_path).filter(|at| at.is_absolute()).map(|at| at.join(file)));
    match tried.iter().find(|path| path.is_file()) {
        Some(path) => Ok(path.clone()),
        None => Err(OpenError::NoEmulator { tried }),
    }
}

/// Around a program `target/debug/x`, `target/debug/deps/x-hash` or `target/debug/examples/x`. Cargo refreshes the
/// library in `deps` whenever it builds the program; the one beside the program only when it is built by name, so that
/// one comes second.
fn candidates(program: &Path, file: &str) -> Vec<PathBuf> {
    let Some(beside) = program.parent() else { return Vec::new() };
    let above = beside.parent().unwrap_or(beside);
    [beside.join("deps"), beside.to_owned(), above.join("deps"), above.to_owned()].map(|at| at.join(file)).into()
}

/// On Linux the library's own SONAME is `libcuda.so`, which is what the loader compares a bare name with.
#[cfg(target_os = "linux")]
fn disguise(path: &Path) -> std::io::Result<PathBuf> {
    Ok(path.to_owned())
}

/// Elsewhere the loader compares file names, so the library needs a copy with the first name that cudarc tries. On
/// Windows that is `cuda.dll`, which no real driver is called.
#[cfg(not(target_os = "linux"))]
fn disguise(path: &Path) -> std::io::Result<PathBuf> {
    let name = if cfg!(windows) { "cuda.dll" } else { "libcuda.dylib" };
    // Windows cannot delete a library in use, so the directory outlives the process there, in the temporary directory.
    let copy = tempfile::Builder::new().prefix("fusion-course-").tempdir()?.keep().join(name);
    if std::fs::hard_link(path, &copy).is_err() {
        std::fs::copy(path, &copy)?;
    }
    Ok(copy)
}

/// Lets cudarc make its search, now that it cannot fail, and checks that it ended where it should.
fn bind(kind: Kind, no_gpu: Option<OpenError>) -> Result<Driver, OpenError> {
    // SAFETY: looking for the library only opens it, and a driver is in memory by now.
    if !unsafe { sys::is_culib_present() } {
        let detail = "it was opened, but cudarc does not find it by name".to_owned();
        return Err(OpenError::NoDriver { detail });
    }
    // SAFETY: as above; it is present, so this does not panic.
    let library = unsafe { sys::culib() };
    match (kind, Emulator::of(library)) {
        (Kind::Emulated, Some(emulator)) => Ok(Driver::Emulated(emulator, no_gpu)),
        (Kind::Gpu, None) => Ok(Driver::Gpu),
        // The program used cudarc before it opened a device here, or put another driver in its way.
        (_, Some(_)) => Err(OpenError::OtherKind { open: Kind::Emulated }),
        (_, None) => Err(OpenError::OtherKind { open: Kind::Gpu }),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_emulator_is_looked_for_around_the_program() {
        let places = |program: &str| -> Vec<String> {
            candidates(Path::new(program), EMULATOR).iter().map(|at| at.display().to_string()).collect()
        };
        assert_eq!(places("/t/debug/x")[..2], ["/t/debug/deps/libfusion_driver.so", "/t/debug/libfusion_driver.so"]);
        assert_eq!(places("/t/debug/deps/x-0")[1], "/t/debug/deps/libfusion_driver.so");
        assert_eq!(places("/t/debug/examples/x")[2], "/t/debug/deps/libfusion_driver.so");
        assert_eq!(places("/usb/x")[1], "/usb/libfusion_driver.so");
    }

    #[test]
    fn driver_versions_are_a_release() {
        assert_eq!(release(12040), (12, 4));
        assert_eq!(release(13000), (13, 0));
        assert_eq!(release(-1), (0, 0));
    }
}
