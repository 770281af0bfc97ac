//! The device, the lesson's kernels, and their launches.

#![allow(unsafe_code)]

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use cudarc::driver::sys::CUdevice_attribute_enum::CU_DEVICE_ATTRIBUTE_CLOCK_RATE as CLOCK_RATE;
use cudarc::driver::{CudaModule, DriverError, LaunchConfig, PushKernelArg};
use fusion_course::Source;
use fusion_device::{Choice, Device};
use fusion_lesson::{Clock, LessonError};
use fusion_machine::LaunchReport;

/// The sources, by name. That of `wgmma` is compiled for compute capability 9.0 alone, where it runs.
const SOURCES: [(&str, &str); 4] = [
    ("products", include_str!("products.cu")),
    ("matrices", include_str!("matrices.cu")),
    ("mistakes", include_str!("mistakes.cu")),
    ("swizzles", include_str!("swizzles.cu")),
];

pub(crate) struct Gpu {
    pub(crate) device: Device,
    loaded: RefCell<HashMap<&'static str, Kernels>>,
}

/// A compiled source.
#[derive(Clone)]
pub(crate) struct Kernels {
    module: Arc<CudaModule>,
}

/// A launch of one kernel whose arguments are numbers and then its output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Launch<'a> {
    pub(crate) kernel: &'a str,
    pub(crate) blocks: usize,
    pub(crate) threads: usize,
    pub(crate) numbers: &'a [i32],
}

impl Gpu {
    pub(crate) fn open(choice: Choice) -> Result<Gpu, LessonError> {
        let device = Device::open(choice).map_err(LessonError::Open)?;
        let (major, minor) = device.properties.compute_capability;
        if major < 8 {
            let name = &device.properties.name;
            return Err(LessonError::Unknown(format!(
                "the lesson needs compute capability 8.0 or later, and {name} has {major}.{minor}: an emulated H200 has it"
            )));
        }
        fusion_lesson::use_compiler(&device)?;
        Ok(Gpu { device, loaded: RefCell::default() })
    }

    /// One of the lesson's sources, compiled once: several parts need the same.
    pub(crate) fn load(&self, name: &'static str) -> Result<Kernels, LessonError> {
        if let Some(kernels) = self.loaded.borrow().get(name) {
            return Ok(kernels.clone());
        }
        let text = SOURCES.iter().find(|(known, _)| *known == name).map_or("", |(_, text)| text);
        let source = Source { path: format!("lessons/tensor-cores/src/{name}.cu"), text: text.to_owned() };
        let module = fusion_baseline::load(&self.device, &source).map_err(LessonError::Compile)?;
        let kernels = Kernels { module };
        self.loaded.borrow_mut().insert(name, kernels.clone());
        Ok(kernels)
    }

    /// Compute capability, as 90 for 9.0.
    pub(crate) fn capability(&self) -> u32 {
        let (major, minor) = self.device.properties.compute_capability;
        10 * major + minor
    }

    /// What times are on this device.
    pub(crate) fn times(&self) -> &'static str {
        fusion_lesson::times(&self.device)
    }

    pub(crate) fn name(&self) -> &str {
        &self.device.properties.name
    }

    /// Clocks per nanosecond, as the driver has them.
    pub(crate) fn ghz(&self) -> Result<f64, LessonError> {
        let khz = self.device.context.attribute(CLOCK_RATE);
        Ok(f64::from(khz.map_err(LessonError::driver("asking for the rate of the clock"))?) * 1e-6)
    }

    pub(crate) fn clock(&self) -> Result<Clock, LessonError> {
        let timing = fusion_lesson::timing(&self.device)?;
        Clock::new(&self.device, timing.as_ref()).map_err(LessonError::driver("preparing the timer"))
    }

    /// Launches a kernel on inputs of 32-bit words. Returns what is in its output of so many words, which begins with
    /// zeros.
    pub(crate) fn run(
        &self,
        kernels: &Kernels,
        launch: Launch<'_>,
        inputs: &[Vec<u32>],
        words: usize,
    ) -> Result<Vec<u32>, LessonError> {
        self.words(kernels, launch, inputs, words).map_err(LessonError::driver(launch.kernel))
    }

    fn words(
        &self,
        kernels: &Kernels,
        launch: Launch<'_>,
        inputs: &[Vec<u32>],
        words: usize,
    ) -> Result<Vec<u32>, DriverError> {
        let stream = &self.device.stream;
        let inputs = inputs.iter().map(|input| stream.clone_htod(input)).collect::<Result<Vec<_>, _>>()?;
        let mut output = stream.alloc_zeros::<u32>(words)?;
        let kernel = kernels.module.load_function(launch.kernel)?;
        let mut builder = stream.launch_builder(&kernel);
        for input in &inputs {
            builder.arg(input);
        }
        for number in launch.numbers {
            builder.arg(number);
        }
        builder.arg(&mut output);
        // SAFETY: a kernel of the lesson takes its inputs, its numbers and its output, which have as many elements as
        // it touches.
        unsafe { builder.launch(config(launch)) }?;
        stream.clone_dtoh(&output)
    }

    /// The time of a launch in nanoseconds. Its output has one float for each thread of a block.
    pub(crate) fn time(&self, clock: &mut Clock, kernels: &Kernels, launch: Launch<'_>) -> Result<f64, LessonError> {
        let mut timed = || {
            let stream = &self.device.stream;
            let mut output = stream.alloc_zeros::<f32>(launch.threads)?;
            let kernel = kernels.module.load_function(launch.kernel)?;
            clock.median(|| {
                let mut builder = stream.launch_builder(&kernel);
                for number in launch.numbers {
                    builder.arg(number);
                }
                builder.arg(&mut output);
                // SAFETY: as above.
                unsafe { builder.launch(config(launch)) }.map(drop)
            })
        };
        timed().map_err(LessonError::driver(launch.kernel))
    }

    /// What the emulated device saw of the launches since it was last asked; nothing on a GPU.
    ///
    /// # Errors
    /// The first fault that it found in them.
    pub(crate) fn launches(&self) -> Result<Vec<LaunchReport>, LessonError> {
        fusion_lesson::launches(&self.device)
    }
}

fn config(launch: Launch<'_>) -> LaunchConfig {
    LaunchConfig {
        grid_dim: (launch.blocks as u32, 1, 1),
        block_dim: (launch.threads as u32, 1, 1),
        shared_mem_bytes: 0,
    }
}
