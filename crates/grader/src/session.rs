//! The device that a worker judges on.

use std::cell::{Cell, OnceCell, Ref, RefCell};
use std::sync::Arc;

use cudarc::driver::{CudaModule, DriverError};
use fusion_baseline::{Baseline, Multiplier};
use fusion_course::{Arguments, DeviceBuffer, Entry, Exercise, Gemm, NoGemm, Scalar, Shape, Shapes, Source};
use fusion_device::{Choice, CompileError, Compiled, Device, EmulatorOptions, Options, Program};
use fusion_machine::report::{Class, Dry};
use fusion_machine::{Checks, Fault, LaunchReport, Report};

use crate::explain;
use crate::judgement::{Code, DeviceInfo, DeviceKind, Failure, Location, RunError, Side};
use crate::known::Known;
use crate::panics::{self, Panicked};
use crate::trouble::Trouble;

/// What [`within`] makes a launch's and a block's budget of, in warp instructions. A loop that never ends is found by the
/// block's within a second.
pub(crate) const BUDGET: u64 = 1 << 26;

/// Warp instructions that a launch of a submission may execute on the emulated device. Blocks that end may be many: with 1,024
/// threads for each of 65,539 rows they are two million warps, of some hundred instructions each. Elements are at most 2^22, thus
/// 2^17 warps, and may have two thousand instructions per warp. Blocks that do each other's work too exceed that within
/// the time limit, and are then told so at their line.
const fn launch_budget(shapes: Shapes) -> u64 {
    match shapes {
        Shapes::Elementwise | Shapes::Tensors { .. } => 1 << 28,
        Shapes::Rows { .. } | Shapes::Matrix { .. } | Shapes::Product { .. } => 1 << 30,
        Shapes::Heads { .. } | Shapes::Attention { .. } | Shapes::Routing { .. } | Shapes::Paged { .. } => 1 << 30,
    }
}

/// The options by which a launch may execute so many warp instructions, and one block a 128th of them: no block of an
/// exercise needs as much, and many mutants never end.
pub(crate) fn within(budget: u64) -> EmulatorOptions {
    EmulatorOptions { instruction_budget: Some(budget), block_budget: Some(budget / 128), ..EmulatorOptions::default() }
}

/// Red zones on a real GPU, in bytes on either side of a buffer.
const MARGIN: usize = 4096;

/// An open device.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) device: Device,
    pub(crate) info: DeviceInfo,
    /// Judge on the emulated device as on a GPU: with red zones, copies and a clock instead of its reports. This is
    /// how the GPU's way is tested without one.
    as_gpu: bool,
    /// Whether a fault has taken the context with it.
    spent: Cell<bool>,
    /// What was reported since the last call of a launch function.
    seen: RefCell<Report>,
    /// Made when they are first needed, and for all that are judged.
    gemm: OnceCell<Multiplier>,
    baseline: OnceCell<Baseline>,
    rivals: OnceCell<Baseline>,
    /// What was counted and predicted of the course's own kernels.
    pub(crate) known: Known,
    /// Who has the launch function of the submission, where that is another process.
    #[cfg(unix)]
    remote: OnceCell<crate::class::Remote>,
}

impl Session {
    /// Opens the device for submissions to an exercise of such shapes.
    pub(crate) fn open(kind: DeviceKind, as_gpu: bool, shapes: Shapes) -> Result<Self, RunError> {
        let options = within(BUDGET);
        let block_budget = match shapes {
            // A block of a product goes over all terms, however long the sums are, one of attention over all keys, where these are in a
            // cache, too, and one of an expert over all of its tokens.
            Shapes::Product { .. } | Shapes::Attention { .. } | Shapes::Routing { .. } | Shapes::Paged { .. } => {
                options.block_budget.map(|budget| 4 * budget)
            }
            _ => options.block_budget,
        };
        let instruction_budget = Some(launch_budget(shapes));
        Self::open_with(kind, as_gpu, EmulatorOptions { instruction_budget, block_budget, ..options })
    }

    /// The emulated device again, for the next submission, whether the one before took its context with it or not. What
    /// is known of the course's own kernels stays known. None where that takes another process: on a GPU, and where
    /// something still holds on to the context.
    pub(crate) fn again(mut self) -> Option<Self> {
        if !self.is_emulated() {
            return None;
        }
        let (as_gpu, product, known) = (self.as_gpu, self.product(), std::mem::take(&mut self.known));
        drop(self);
        let opened = Self::open_with(DeviceKind::Emulated, as_gpu, EmulatorOptions::default());
        let next = Self { known, ..opened.ok()? };
        next.device.context.synchronize().ok()?;
        product.map_or(Ok(()), |product| next.reuse(product)).ok()?;
        Some(next)
    }

    /// Opens the device with other options. What they leave open is as in the session that this process had before,
    /// which is gone.
    pub(crate) fn open_with(kind: DeviceKind, as_gpu: bool, options: EmulatorOptions) -> Result<Self, RunError> {
        let (choice, code) = match kind {
            DeviceKind::Emulated => (Choice::Emulated, "no-device"),
            DeviceKind::Gpu => (Choice::Gpu, "no-gpu"),
        };
        let options = EmulatorOptions {
            // Lints too, because they may explain a wrong result. A variable that was left in the shell must decide no verdict.
            checks: Some(Checks::ALL),
            // The buffers are the grader's own: where it allocates them helps nobody.
            allocation_sites: Some(false),
            // Times are asked for where they are judged.
            times: Some(false),
            // A verdict does not depend on what was judged before.
            start_over: Some(true),
            ..options
        };
        let opened = panics::catch(|| Device::open_with(choice, &options));
        let device = match opened {
            Ok(opened) => opened.map_err(|error| RunError::new(code, error.to_string()))?,
            // cudarc panics where a driver lacks what it looks for.
            Err(panicked) => {
                return Err(RunError::new(code, format!("the driver cannot be used: {}", panicked.message)));
            }
        };
        let properties = &device.properties;
        let info = DeviceInfo {
            kind,
            name: properties.name.clone(),
            compute_capability: format!("{}.{}", properties.compute_capability.0, properties.compute_capability.1),
            multiprocessors: properties.multiprocessors,
            l2_bytes: properties.l2_bytes,
            memory_bytes: properties.memory_bytes,
            driver: format!("{}.{}", properties.driver.0, properties.driver.1),
        };
        let (seen, gemm, baseline, rivals, known) = Default::default();
        Ok(Self {
            device,
            info,
            as_gpu,
            spent: Cell::new(false),
            seen,
            gemm,
            baseline,
            rivals,
            known,
            #[cfg(unix)]
            remote: OnceCell::new(),
        })
    }

    /// Lets another process say what a submission launches.
    #[cfg(unix)]
    pub(crate) fn ask(&self, remote: crate::class::Remote) {
        self.remote.get_or_init(|| remote);
    }

    /// Whether another process has the submission's launch function.
    pub(crate) fn is_remote(&self) -> bool {
        #[cfg(unix)]
        return self.remote.get().is_some();
        #[cfg(not(unix))]
        false
    }

    pub(crate) fn is_emulated(&self) -> bool {
        self.device.is_emulated()
    }

    /// Whether to judge by what a GPU can tell.
    pub(crate) fn judges_as_gpu(&self) -> bool {
        self.as_gpu || !self.is_emulated()
    }

    /// Margin of buffers: on the emulated device the first byte past one must be a fault.
    pub(crate) fn margin(&self) -> usize {
        if self.judges_as_gpu() { MARGIN } else { 0 }
    }

    /// Whether this process can judge nothing more.
    pub(crate) fn is_spent(&self) -> bool {
        self.spent.get()
    }

    /// Lets launches on the emulated device run dry, or no longer: see [`Dry`]. Nothing on a GPU.
    pub(crate) fn run_dry(&self, dry: &Dry) -> Result<(), Trouble> {
        let Some(emulator) = self.device.emulator() else { return Ok(()) };
        emulator.run_dry(dry).map_err(|error| Trouble::Unable(error.to_string()))
    }

    /// Has the emulated device time launches that it executes, or no longer.
    pub(crate) fn set_times(&self, times: bool) -> Result<(), Trouble> {
        self.set(&EmulatorOptions { times: Some(times), ..EmulatorOptions::default() })
    }

    /// Has the emulated device make these checks, and no others, of what is launched meanwhile.
    pub(crate) fn with_checks<T>(
        &self,
        checks: Checks,
        launched: impl FnOnce() -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        let set = |checks| self.set(&EmulatorOptions { checks: Some(checks), ..EmulatorOptions::default() });
        set(checks)?;
        let done = launched();
        set(Checks::ALL)?;
        done
    }

    /// Has the emulated device say that it has so few multiprocessors; 0 for as many as it has.
    pub(crate) fn set_multiprocessors(&self, count: u32) -> Result<(), Trouble> {
        self.set(&EmulatorOptions { multiprocessors: Some(count), ..EmulatorOptions::default() })
    }

    /// Nothing on a GPU.
    fn set(&self, options: &EmulatorOptions) -> Result<(), Trouble> {
        let Some(emulator) = self.device.emulator() else { return Ok(()) };
        emulator.set(options).map_err(|error| Trouble::Unable(error.to_string()))
    }

    /// What happened on the emulated device since the last call; nothing on a GPU.
    pub(crate) fn take_report(&self) -> Report {
        let taken = self.device.emulator().and_then(|emulator| emulator.take_report().ok());
        let mut report = taken.unwrap_or_default();
        if let Some(gemm) = self.gemm.get() {
            gemm.predict(&mut report);
        }
        let mut seen = self.seen.borrow_mut();
        // Where their time goes is nobody's but the caller's.
        let counts = |launch: &LaunchReport| LaunchReport { account: None, ..launch.clone() };
        seen.launches.extend(report.launches.iter().map(counts));
        seen.faults.extend(report.faults.iter().cloned());
        seen.advice.extend(report.advice.iter().cloned());
        seen.stopped = report.stopped.clone().or(seen.stopped.take());
        drop(seen);
        report
    }

    /// What was reported since the last call of a launch function, no matter which code asked.
    pub(crate) fn seen(&self) -> Ref<'_, Report> {
        self.seen.borrow()
    }

    /// Compiles and loads a submission.
    pub(crate) fn compile(&self, entry: &Entry) -> Result<Program, Trouble> {
        let Source { path, text } = &entry.source;
        self.compile_source(path, text, &Options::default()).map_err(|error| self.refused(error, &entry.source))
    }

    /// What an error of compiling or loading says about a source.
    pub(crate) fn refused(&self, error: CompileError, source: &Source) -> Trouble {
        match error {
            CompileError::Rejected { ref log, ref diagnostics, .. } => {
                explain::diagnostics(diagnostics, log, source).into()
            }
            CompileError::NulByte { ref name, line } => {
                let mut failure = Failure::new(Code::Compile, "there is a NUL byte in the source: it is not text");
                failure.location = Some(Location::new(name.as_str(), line as u32, 0, ""));
                failure.into()
            }
            // What the assembler refuses came from their inline PTX.
            CompileError::Load(ref load) if !self.take_report().faults.iter().any(explain::is_unsupported) => {
                let failure = Failure::new(Code::Compile, "the driver refused the compiled kernel");
                load.log.lines().fold(failure, |failure, line| failure.note(line)).into()
            }
            other => Trouble::Unable(other.to_string()),
        }
    }

    /// Compiles and loads CUDA C++ of our own or of a submission.
    pub(crate) fn compile_source(&self, name: &str, text: &str, options: &Options) -> Result<Program, CompileError> {
        self.device.compile(&fusion_device::Source { name, text }, &fusion_baseline::includes(), options)
    }

    /// The kernels that flush the cache and hold a stream up.
    pub(crate) fn timing(&self) -> Result<Arc<CudaModule>, Trouble> {
        fusion_baseline::load(&self.device, &fusion_baseline::timing())
            .map_err(|error| Trouble::Unable(format!("the kernels for timing do not compile: {error}")))
    }

    /// The unfused chain's kernels.
    pub(crate) fn baseline(&self) -> Result<&Baseline, Trouble> {
        if let Some(baseline) = self.baseline.get() {
            return Ok(baseline);
        }
        let made = Baseline::new(&self.device)
            .map_err(|error| Trouble::Unable(format!("the unfused kernels do not compile: {error}")))?;
        Ok(self.baseline.get_or_init(|| made))
    }

    /// The kernels that exercises name as ones to beat: fused ones, and those of the unfused chain.
    pub(crate) fn rivals(&self) -> Result<&Baseline, Trouble> {
        if let Some(rivals) = self.rivals.get() {
            return Ok(rivals);
        }
        let mut all = self.baseline()?.clone();
        for source in &fusion_baseline::rivals() {
            all = all.with(
                fusion_baseline::load(&self.device, source)
                    .map_err(|error| Trouble::Unable(format!("the kernels to beat do not compile: {error}")))?,
            );
        }
        Ok(self.rivals.get_or_init(|| all))
    }

    /// Who multiplies matrices for this exercise.
    ///
    /// # Errors
    /// That the course's own product does not compile.
    pub(crate) fn gemm(&self, exercise: &Exercise) -> Result<&dyn Gemm, Trouble> {
        if !exercise.multiplies() {
            return Ok(&NoGemm);
        }
        if let Some(gemm) = self.gemm.get() {
            return Ok(gemm);
        }
        let made = Multiplier::new(&self.device)
            .map_err(|error| Trouble::Unable(format!("the matrix product does not compile: {error}")))?;
        Ok(self.gemm.get_or_init(|| made))
    }

    /// What multiplies matrices on the emulated device, for another session to [reuse](Session::reuse), if it was needed.
    pub(crate) fn product(&self) -> Option<Compiled> {
        self.gemm.get().and_then(Multiplier::compiled).cloned()
    }

    /// Lets what an earlier session compiled multiply matrices.
    pub(crate) fn reuse(&self, product: Compiled) -> Result<(), CompileError> {
        let made = Multiplier::again(&self.device, product)?;
        self.gemm.get_or_init(|| made);
        Ok(())
    }

    /// Who multiplied matrices in what was judged, in words; none where nobody did.
    pub(crate) fn products(&self, exercise: &Exercise) -> Option<String> {
        self.gemm.get().filter(|_| exercise.multiplies()).map(Multiplier::describe)
    }

    /// Calls a submission's launch function.
    pub(crate) fn launch(
        &self,
        entry: &Entry,
        program: &Program,
        [inputs, outputs, scratch]: [&mut [DeviceBuffer]; 3],
        scalars: &[Scalar],
        shape: Shape,
    ) -> Result<(), Trouble> {
        *self.seen.borrow_mut() = Report::default();
        #[cfg(unix)]
        if let Some(remote) = self.remote.get() {
            return remote.launch(self, entry, program, [inputs, outputs, scratch], scalars, shape);
        }
        let gemm = self.gemm(entry.exercise)?;
        self.call(entry, program, [inputs, outputs, scratch], scalars, shape, gemm)
    }

    /// Calls it in this process.
    pub(crate) fn call(
        &self,
        entry: &Entry,
        program: &Program,
        [inputs, outputs, scratch]: [&mut [DeviceBuffer]; 3],
        scalars: &[Scalar],
        shape: Shape,
        gemm: &dyn Gemm,
    ) -> Result<(), Trouble> {
        let Shape { rows, columns, depth, heads, experts, pages } = shape;
        let arguments =
            Arguments { inputs, outputs, scratch, gemm, scalars, rows, columns, depth, heads, experts, pages };
        let returned = panics::catch(|| (entry.launch)(&self.device.stream, &program.module, arguments));
        match returned {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(self.explain(error, entry, program, shape)),
            Err(panicked) => {
                // What the driver refused is the reason, where the result was unwrapped.
                let report = self.take_report();
                let no_kernel =
                    panicked.message.contains("CUDA_ERROR_NOT_FOUND").then_some(report.no_kernel.as_deref());
                let refused = match explain::faults(&report.faults, entry) {
                    Some(Trouble::Failure(failure)) => Some(failure),
                    _ => no_kernel.flatten().map(|asked| Box::new(explain::no_kernel(Some(asked), program, entry))),
                };
                if let Some(mut failure) = refused {
                    failure.add_note("the launch function panicked on this error: return it with `?`");
                    if failure.side != Some(Side::Kernel) {
                        failure.side = Some(Side::Launch);
                        failure.location = place(&panicked);
                    }
                    return Err(Trouble::from(failure).at(entry.exercise.shapes.describe(shape)));
                }
                let mut failure =
                    Failure::new(Code::Panic, format!("the launch function panicked: {}", panicked.message));
                failure.location = place(&panicked);
                Err(Trouble::from(failure).at(entry.exercise.shapes.describe(shape)))
            }
        }
    }

    /// Waits for the stream that submissions are given, and only for that one.
    pub(crate) fn finish(&self, entry: &Entry, program: &Program, shape: Shape) -> Result<(), Trouble> {
        self.device.stream.synchronize().map_err(|error| self.explain(error, entry, program, shape))
    }

    /// What an error of a launch, or of waiting for it, says about the submission.
    pub(crate) fn explain(&self, error: DriverError, entry: &Entry, program: &Program, shape: Shape) -> Trouble {
        let report = self.take_report();
        // An error that stays in the context is seen by every later call, so one more call tells whether it does.
        if self.device.context.synchronize().is_err() {
            self.spent.set(true);
        }
        // An index that overflows explains the access that missed.
        let lints = report.advice.iter().filter(|fault| fault.code().class() == Class::Arithmetic);
        let faults: Vec<Fault> =
            report.faults.iter().chain(lints.filter(|_| !report.faults.is_empty())).cloned().collect();
        if let Some(failure) = explain::no_memory(&faults).or_else(|| explain::no_module(&faults)) {
            return Trouble::from(failure).at(entry.exercise.shapes.describe(shape));
        }
        let told = explain::faults(&faults, entry);
        let asked = report.no_kernel.as_deref();
        told.unwrap_or_else(|| explain::driver_error(error, entry, program, shape, asked, self.is_emulated()).into())
            .at(entry.exercise.shapes.describe(shape))
    }

    /// A fault that the emulated device reported although every call succeeded.
    pub(crate) fn refuse_faults(&self, report: &Report, entry: &Entry, shape: Shape) -> Result<(), Trouble> {
        match explain::faults(&report.faults, entry) {
            Some(trouble) => {
                self.spent.set(true);
                Err(trouble.at(entry.exercise.shapes.describe(shape)))
            }
            None => Ok(()),
        }
    }
}

/// Where something panicked. None is known where the submission has a panic hook of its own.
fn place(panicked: &Panicked) -> Option<Location> {
    // Relative to the workspace's root, where a worker is started; elsewhere the place alone must do.
    let source = std::fs::read_to_string(&panicked.file).unwrap_or_default();
    (panicked.line > 0).then(|| Location::new(panicked.file.as_str(), panicked.line, panicked.column, &source))
}
