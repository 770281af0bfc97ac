//! What every lesson asks of its device, with errors that a learner can act on.

use std::sync::Arc;

use cudarc::driver::CudaModule;
use fusion_device::Device;
use fusion_machine::LaunchReport;
use fusion_toolchain::Terminal;

use crate::LessonError;

/// Finds the compiler, or fetches it, and has the device use it.
///
/// # Errors
/// There is no compiler, and none could be fetched.
pub fn use_compiler(device: &Device) -> Result<(), LessonError> {
    let toolchain = fusion_toolchain::find_or_fetch(&mut Terminal::new()).map_err(LessonError::Toolchain)?;
    device.use_toolchain(&toolchain).map_err(LessonError::Compile)
}

/// What empties the cache before a measurement; nothing needs it on the emulated device.
///
/// # Errors
/// It does not compile.
pub fn timing(device: &Device) -> Result<Option<Arc<CudaModule>>, LessonError> {
    match device.is_emulated() {
        true => Ok(None),
        false => fusion_baseline::load(device, &fusion_baseline::timing()).map(Some).map_err(LessonError::Compile),
    }
}

/// What times are on a device: `measured` or `predicted`.
pub fn times(device: &Device) -> &'static str {
    if device.is_emulated() { "predicted" } else { "measured" }
}

/// What the emulated device saw of the launches since it was last asked; nothing on a GPU.
///
/// # Errors
/// The first fault that it found in them.
pub fn launches(device: &Device) -> Result<Vec<LaunchReport>, LessonError> {
    let Some(emulator) = device.emulator() else { return Ok(Vec::new()) };
    let report = emulator.take_report().map_err(|error| LessonError::Wrong(error.to_string()))?;
    match report.faults.first() {
        Some(fault) => {
            Err(LessonError::Wrong(format!("kernel `{}` is wrong: {}", fault.kernel, fusion_diagnostic::say(fault))))
        }
        None => Ok(report.launches),
    }
}
