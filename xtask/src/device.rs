//! Where to run: on a GPU or on the emulated device.

use clap::ValueEnum;
use fusion_grader::judgement::{DeviceInfo, RunError};

use crate::interrupt::Interrupt;
use crate::judge::{self, Stop};
use crate::programs::Programs;

/// What `--device` takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Device {
    #[default]
    Auto,
    Gpu,
    Emulated,
}

/// The GPU to judge on, if it was asked for or is there.
pub(crate) fn gpu(device: Device, programs: &Programs, interrupt: &Interrupt) -> Result<Option<DeviceInfo>, Stop> {
    let Some(program) = programs.paths.values().next() else { return Ok(None) };
    if device == Device::Emulated {
        return Ok(None);
    }
    match (judge::probe(program, interrupt)?, device) {
        (Ok(gpu), _) => Ok(Some(gpu)),
        (Err(_), Device::Auto) => Ok(None),
        (Err(reason), _) => Err(Stop::Error(RunError::new("no-gpu", reason))),
    }
}
