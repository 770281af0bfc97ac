//! Opens a GPU, real or emulated, and compiles CUDA C++ for it. The one place that talks to cudarc's loader.
//!
//! cudarc looks for the CUDA driver by bare library names when it is first used, once for the life of the process, and
//! panics when there is none. [`Device::open`] therefore looks first, without cudarc: for a real driver with a device, or
//! for the emulated driver (the shared library of `fusion-driver`), which it opens in such a way that cudarc's search
//! finds it. From then on everything is plain cudarc, and the same program runs on either.
//!
//! A process uses one device for its whole life. What was opened first stays; asking for the other kind later is an
//! error, not a switch.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod compiler;
mod device;
mod emulator;
mod loader;
mod nvml;
mod program;
pub mod recording;
mod timer;

pub use compiler::{CompileError, Compiled, Compiler, Diagnostic, Options, Severity, Source};
pub use device::{Choice, Device, Kind, OpenError, Properties};
/// Which checks the emulated device makes.
pub use fusion_machine::Checks;

pub use emulator::{Emulator, EmulatorError, EmulatorOptions};
pub use nvml::SmClock;
pub use program::{KernelError, LoadError, MissingKernel, Program, describe};
pub use timer::Timer;

/// The emulated driver's shared library, for whoever starts a program with it.
///
/// # Errors
/// [`OpenError::NoEmulator`] or [`OpenError::BadEmulator`].
pub fn emulated_driver() -> Result<std::path::PathBuf, OpenError> {
    loader::find_emulator()
}

/// Another shared library of this workspace by its file name.
///
/// # Errors
/// [`OpenError::NoEmulator`] with the places that were tried.
pub fn library_beside(file: &str) -> Result<std::path::PathBuf, OpenError> {
    loader::find_beside(file)
}
