//! Opening the device and loading the kernels, with errors that a learner can act on.

use std::process::ExitCode;
use std::sync::Arc;

use cudarc::driver::{CudaFunction, CudaModule, DriverError};
use fusion_baseline::{Baseline, Clock};
use fusion_course::Source;
use fusion_device::{CompileError, Device, OpenError};
use fusion_machine::LaunchReport;
use fusion_toolchain::FetchError;

use crate::{Options, Size, Subject, Sweep, device, print, table};

/// An open device with the unfused kernels and the lesson's own.
#[derive(Debug)]
pub struct Lesson {
    pub device: Device,
    pub(crate) unfused: Baseline,
    pub(crate) fused: Baseline,
    /// What empties the cache before a measurement; nothing needs it on the emulated device.
    timing: Option<Arc<CudaModule>>,
    sizes: Vec<Size>,
    pub(crate) counters: bool,
}

/// Why a lesson could not go on.
#[derive(Debug)]
pub enum LessonError {
    Open(OpenError),
    Toolchain(FetchError),
    Compile(CompileError),
    /// A launch or copy failed; usually the device is too small for the size.
    Driver {
        error: DriverError,
        doing: String,
    },
    /// A name that is not there.
    Unknown(String),
    /// A kernel of the course gave a wrong result: a bug of ours, or a broken device.
    Wrong(String),
    /// Standard output was closed; nothing is wrong.
    Closed,
    Output(std::io::Error),
}

impl Lesson {
    /// Opens the device and compiles the unfused kernels and the lesson's sources.
    ///
    /// # Errors
    /// No device, no compiler, or a source that does not compile.
    pub fn open(options: &Options, sources: &[Source]) -> Result<Lesson, LessonError> {
        let device = Device::open(options.device).map_err(LessonError::Open)?;
        device::use_compiler(&device)?;
        let load = |source: &Source| fusion_baseline::load(&device, source).map_err(LessonError::Compile);
        let unfused = Baseline::new(&device).map_err(LessonError::Compile)?;
        let modules = sources.iter().map(load).collect::<Result<Vec<_>, _>>()?;
        let timing = device::timing(&device)?;
        let sizes = options.sweep(device.is_emulated());
        Ok(Lesson {
            unfused,
            fused: Baseline::from_modules(modules),
            timing,
            device,
            sizes,
            counters: options.counters,
        })
    }

    /// One of the lesson's own kernels.
    ///
    /// # Errors
    /// `CUDA_ERROR_NOT_FOUND` for a name that none of its sources has.
    pub fn kernel(&self, name: &str) -> Result<CudaFunction, DriverError> {
        self.fused.kernel(name)
    }

    /// What times work on this device.
    ///
    /// # Errors
    /// The driver's, when there is no memory for what empties the cache.
    pub fn clock(&self) -> Result<Clock, DriverError> {
        Clock::new(&self.device, self.timing.as_ref())
    }

    /// The unfused kernels of the course.
    pub fn unfused(&self) -> &Baseline {
        &self.unfused
    }

    /// What times are on this device: `measured` or `predicted`.
    pub fn times(&self) -> &'static str {
        device::times(&self.device)
    }

    /// Names the device and says what its times are.
    pub fn headline(&self) -> String {
        let name = &self.device.properties.name;
        match self.device.is_emulated() {
            true => format!("{name}: launches and bytes are exact, times are PREDICTED by a model, not measured."),
            false => format!(
                "{name}: times are measured with CUDA events (time stamps on the GPU).\n\
                 The L2 is emptied before each run. Each time is the median of several runs."
            ),
        }
    }

    /// Runs one operation over all sizes and returns what to print.
    ///
    /// # Errors
    /// See [`LessonError`].
    pub fn demonstrate(&self, subject: &Subject) -> Result<String, LessonError> {
        let sweep = Sweep::run(self, subject, &self.sizes)?;
        Ok(table::sweep(self, subject, &sweep))
    }

    /// Prints the headline, and then each of the operations or those whose names begin with `only`.
    ///
    /// # Errors
    /// See [`LessonError`]; [`LessonError::Unknown`] when no name does.
    pub fn show(&self, subjects: &[Subject], only: Option<&str>) -> Result<(), LessonError> {
        let chosen = |subject: &&Subject| only.is_none_or(|only| subject.exercise.name.starts_with(only));
        if subjects.iter().find(chosen).is_none() {
            let names: Vec<&str> = subjects.iter().map(|subject| subject.exercise.name).collect();
            let asked = only.unwrap_or_default();
            return Err(LessonError::Unknown(format!(
                "no operation of this lesson is called `{asked}`: choose one of {}",
                names.join(", ")
            )));
        }
        print(&self.headline())?;
        subjects.iter().filter(chosen).try_for_each(|subject| print(&self.demonstrate(subject)?))
    }

    /// Asks the emulated device whether anything was wrong with the launches since it was last asked; `demonstrate`
    /// asks for its own.
    ///
    /// # Errors
    /// The first fault that it found.
    pub fn check(&self) -> Result<(), LessonError> {
        self.launches().map(drop)
    }

    /// What the emulated device saw of the launches since it was last asked; nothing on a GPU.
    ///
    /// # Errors
    /// The first fault that it found in them.
    pub fn launches(&self) -> Result<Vec<LaunchReport>, LessonError> {
        device::launches(&self.device)
    }

    /// The sizes of the sweep, ascending.
    pub fn sizes(&self) -> &[Size] {
        &self.sizes
    }

    /// The largest size of the sweep.
    pub fn largest(&self) -> Size {
        self.sizes.last().copied().unwrap_or(Size::Elements(1))
    }
}

impl LessonError {
    /// Names what the driver failed at.
    pub fn driver(doing: impl Into<String>) -> impl FnOnce(DriverError) -> LessonError {
        let doing = doing.into();
        move |error| LessonError::Driver { error, doing }
    }

    /// Says what happened on stderr and gives the exit code of something that could not be done.
    pub fn report(&self) -> ExitCode {
        if let LessonError::Closed = self {
            return ExitCode::SUCCESS;
        }
        eprintln!("error: {self}");
        ExitCode::from(2)
    }
}

impl std::fmt::Display for LessonError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LessonError::Open(error) => error.fmt(f),
            LessonError::Toolchain(error) => error.fmt(f),
            LessonError::Compile(error) => error.fmt(f),
            LessonError::Driver { error, doing } => {
                write!(f, "{doing} failed: {error}. If the device is out of memory, try smaller --sizes.")
            }
            LessonError::Closed => write!(f, "the output was closed"),
            LessonError::Output(error) => write!(f, "the output cannot be written: {error}"),
            LessonError::Unknown(what) | LessonError::Wrong(what) => write!(f, "{what}"),
        }
    }
}

impl std::error::Error for LessonError {}
