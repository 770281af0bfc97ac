//! Kernels of the lesson, launched, timed, and checked.

#![allow(unsafe_code)]

use cudarc::driver::sys::CUdevice_attribute_enum::CU_DEVICE_ATTRIBUTE_CLOCK_RATE as CLOCK_RATE;
use cudarc::driver::{CudaSlice, DevicePtr, DeviceRepr, DriverError, LaunchConfig, PushKernelArg, ValidAsZeroBits};
use fusion_lesson::{Clock, Lesson, LessonError};
use fusion_machine::LaunchReport;

/// An argument of a kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Arg {
    Address(u64),
    Int(i32),
    Float(f32),
    Size(u64),
}

/// A launch of one of the lesson's kernels, without dynamic shared memory.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    pub(crate) kernel: &'static str,
    pub(crate) blocks: u32,
    pub(crate) threads: u32,
    pub(crate) arguments: Vec<Arg>,
}

/// What L2 has before a kernel is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cache {
    Cold,
    /// What the same launch has left there.
    Warm,
}

/// What came of a launch.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) ns: f64,
    /// What the emulated device saw; nothing on a GPU.
    pub(crate) report: Option<LaunchReport>,
}

pub(crate) struct Bench<'a> {
    pub(crate) lesson: &'a Lesson,
    clock: Clock,
    /// What a copy reaches, in bytes read and written per second.
    pub(crate) ceiling: f64,
    pub(crate) sms: u32,
    /// Of the multiprocessors, as the driver has it: clocks per nanosecond.
    pub(crate) ghz: f64,
}

impl<'a> Bench<'a> {
    pub(crate) fn new(lesson: &'a Lesson) -> Result<Self, LessonError> {
        let mut clock = lesson.clock().map_err(LessonError::driver("preparing the timer"))?;
        let ceiling = clock.ceiling().map_err(LessonError::driver("measuring a copy"))?;
        let khz = lesson.device.context.attribute(CLOCK_RATE);
        let khz = khz.map_err(LessonError::driver("asking for the rate of the clock"))?;
        let sms = lesson.device.properties.multiprocessors;
        Ok(Bench { lesson, clock, ceiling, sms, ghz: f64::from(khz) * 1e-6 })
    }

    /// Device memory with these values.
    pub(crate) fn upload<T: DeviceRepr>(&self, values: &[T]) -> Result<CudaSlice<T>, LessonError> {
        self.lesson.device.stream.clone_htod(values).map_err(LessonError::driver("copying to the device"))
    }

    /// Device memory of zeros.
    pub(crate) fn zeros<T: DeviceRepr + ValidAsZeroBits>(&self, len: usize) -> Result<CudaSlice<T>, LessonError> {
        self.lesson.device.stream.alloc_zeros(len).map_err(LessonError::driver(format!("allocating {len} elements")))
    }

    pub(crate) fn address<T>(&self, slice: &CudaSlice<T>) -> Arg {
        Arg::Address(slice.device_ptr(&self.lesson.device.stream).0)
    }

    pub(crate) fn download<T: DeviceRepr>(&self, slice: &CudaSlice<T>) -> Result<Vec<T>, LessonError> {
        self.lesson.device.stream.clone_dtoh(slice).map_err(LessonError::driver("reading the result"))
    }

    /// Times a launch.
    pub(crate) fn run(&mut self, launch: &Launch, cache: Cache) -> Result<Run, LessonError> {
        self.lesson.check()?;
        let lesson = self.lesson;
        let times = self.clock.times(cache == Cache::Warm, || start(lesson, launch));
        let times = times.map_err(LessonError::driver(launch.kernel))?;
        let ns = times.get(times.len() / 2).copied().unwrap_or(f64::NAN);
        Ok(Run { ns, report: lesson.launches()?.pop() })
    }

    /// Launches without a look at the time.
    pub(crate) fn launch(&self, launch: &Launch) -> Result<(), LessonError> {
        start(self.lesson, launch).map_err(LessonError::driver(launch.kernel))
    }
}

fn start(lesson: &Lesson, launch: &Launch) -> Result<(), DriverError> {
    let kernel = lesson.kernel(launch.kernel)?;
    let mut builder = lesson.device.stream.launch_builder(&kernel);
    for argument in &launch.arguments {
        match argument {
            Arg::Address(address) => builder.arg(address),
            Arg::Int(number) => builder.arg(number),
            Arg::Float(number) => builder.arg(number),
            Arg::Size(number) => builder.arg(number),
        };
    }
    let config =
        LaunchConfig { grid_dim: (launch.blocks, 1, 1), block_dim: (launch.threads, 1, 1), shared_mem_bytes: 0 };
    // SAFETY: each part of the lesson passes what its kernel takes; its buffers are as long as its kernels go, and live
    // until their results have been read.
    unsafe { builder.launch(config) }.map(drop)
}

/// Says that a kernel is wrong, if it is.
pub(crate) fn expect(right: bool, launch: &Launch) -> Result<(), LessonError> {
    match right {
        true => Ok(()),
        false => Err(LessonError::Wrong(format!("the result of `{}` is wrong", launch.kernel))),
    }
}

/// Compares a result with what the host has computed in f64.
pub(crate) fn compare(
    found: &[f32],
    expected: impl Iterator<Item = f64>,
    tolerance: f64,
    launch: &Launch,
) -> Result<(), LessonError> {
    expect(
        found.iter().zip(expected).all(|(found, expected)| (f64::from(*found) - expected).abs() <= tolerance),
        launch,
    )
}

/// Numbers of either sign that are easy to compute again: none larger than 1.
pub(crate) fn values(count: usize) -> Vec<f32> {
    (0..count).map(|i| ((i * 37 + i / 61) % 401) as f32 / 200.5 - 1.0).collect()
}
