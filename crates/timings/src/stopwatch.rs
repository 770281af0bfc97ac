//! Times points on an open device.

use std::error::Error;
use std::ffi::c_void;
use std::fmt;

use cudarc::driver::{CudaFunction, DriverError, result, sys};
use fusion_baseline::{Clock, includes, timing};
use fusion_device::{Choice, CompileError, Device, KernelError, OpenError, Options, Program, Source, describe};
use fusion_suite::{Argument, Fill, Type};

use crate::case::{Case, Point};
use crate::contents::{PERIOD, contents};
use crate::record::{Cache, Record};

/// Times one case after another on one device.
#[derive(Debug)]
pub struct Stopwatch {
    device: Device,
    clock: Clock,
}

/// Why something could not be timed.
#[derive(Debug)]
pub enum Failure {
    Open(OpenError),
    Compile(CompileError),
    Kernel(KernelError),
    /// A point asks for what cannot be timed.
    Point(String),
    Driver(DriverError),
}

impl Stopwatch {
    /// # Errors
    /// As [`Device::open`]'s, and what the clock's own kernels cannot do.
    pub fn open(choice: Choice) -> Result<Self, Failure> {
        let device = Device::open(choice).map_err(Failure::Open)?;
        let module = fusion_baseline::load(&device, &timing()).map_err(Failure::Compile)?;
        let clock = Clock::new(&device, Some(&module))?;
        Ok(Self { device, clock })
    }

    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Times the points of a case and shows each to `seen`, or why it could not be timed.
    ///
    /// # Errors
    /// When nothing of the case can be timed, or nothing any more.
    pub fn time(&mut self, case: &Case, mut seen: impl FnMut(Result<Record, String>)) -> Result<(), Failure> {
        let program = self.program(case)?;
        for point in &case.points {
            match self.point(&program, point) {
                Ok([low, ns, high]) => seen(Ok(Record {
                    case: case.name.clone(),
                    kernel: point.launch.kernel.clone(),
                    at: point.at.clone(),
                    cache: point.cache,
                    ns,
                    low,
                    high,
                })),
                Err(failure) => seen(Err(format!("{} {}: {failure}", point.launch.kernel, point.at))),
            }
            // What is wrong with one kernel may have taken the context with it.
            self.device.stream.synchronize()?;
        }
        Ok(())
    }

    /// Launches every point of a case once and waits, for a profiler to look at.
    ///
    /// # Errors
    /// The first thing that cannot be done.
    pub fn launch(&mut self, case: &Case) -> Result<(), Failure> {
        let program = self.program(case)?;
        for point in &case.points {
            let kernel = program.kernel(&point.launch.kernel).map_err(Failure::Kernel)?;
            Ready::new(kernel, point)?.launch(self.device.stream.cu_stream())?;
            self.device.stream.synchronize()?;
        }
        Ok(())
    }

    fn program(&self, case: &Case) -> Result<Program, Failure> {
        let file = format!("{}.cu", case.name);
        let source = Source { name: &file, text: &case.source };
        self.device.compile(&source, &includes(), &Options::default()).map_err(Failure::Compile)
    }

    fn point(&mut self, program: &Program, point: &Point) -> Result<[f64; 3], Failure> {
        let kernel = program.kernel(&point.launch.kernel).map_err(Failure::Kernel)?;
        let mut ready = Ready::new(kernel, point)?;
        let stream = self.device.stream.clone();
        let times = self.clock.times(point.cache == Cache::Warm, || ready.launch(stream.cu_stream()))?;
        Ok(Record::quartiles(&times))
    }
}

/// A launch with its buffers.
struct Ready<'a> {
    kernel: CudaFunction,
    point: &'a Point,
    buffers: Vec<u64>,
    values: Vec<Vec<u8>>,
}

#[expect(unsafe_code, reason = "a launch is described by data, which no safe interface takes")]
impl<'a> Ready<'a> {
    fn new(kernel: CudaFunction, point: &'a Point) -> Result<Self, Failure> {
        let mut ready = Self { kernel, point, buffers: Vec::new(), values: Vec::new() };
        for parameter in &point.launch.parameters {
            let value = match &parameter.argument {
                Argument::Buffer { ty, len, fill } => ready.buffer(*ty, *len, *fill)?.to_le_bytes().to_vec(),
                Argument::Null => 0_u64.to_le_bytes().to_vec(),
                Argument::Number(bytes) | Argument::Value(bytes) => bytes.clone(),
                _ => return Err(Failure::Point(format!("`{}` cannot be timed", parameter.name))),
            };
            ready.values.push(value);
        }
        // Without it, static and dynamic shared memory may have 48 KiB together.
        if point.launch.shared > 32 << 10 {
            let limit = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            ready.kernel.set_attribute(limit, i32::try_from(point.launch.shared).unwrap_or(i32::MAX))?;
        }
        result::ctx::synchronize()?;
        Ok(ready)
    }

    /// A buffer with contents that repeat.
    fn buffer(&mut self, ty: Type, len: usize, fill: Fill) -> Result<u64, Failure> {
        let bytes = len * ty.size();
        // SAFETY: the context is current since the device was opened.
        let address = unsafe { result::malloc_sync(bytes.max(1)) }?;
        self.buffers.push(address);
        let Some(contents) = contents(ty, len.min(PERIOD), fill) else { return Ok(address) };
        // SAFETY: the contents are no longer than the buffer.
        unsafe { result::memcpy_htod_sync(address, &contents) }?;
        let mut filled = contents.len();
        while 0 < filled && filled < bytes {
            let more = filled.min(bytes - filled);
            // SAFETY: both ranges lie within the buffer, and do not overlap.
            unsafe { result::memcpy_dtod_sync(address + filled as u64, address, more) }?;
            filled += more;
        }
        Ok(address)
    }

    fn launch(&mut self, stream: sys::CUstream) -> Result<(), DriverError> {
        let launch = &self.point.launch;
        let mut pointers: Vec<*mut c_void> = self.values.iter_mut().map(|value| value.as_mut_ptr().cast()).collect();
        let function = self.kernel.cu_function();
        // SAFETY: the point gives every parameter of the kernel its bytes, and the kernels of this suite, which are known, stay
        // within the buffers that their points describe.
        unsafe { result::launch_kernel(function, launch.grid, launch.block, launch.shared, stream, &mut pointers) }
    }
}

#[expect(unsafe_code, reason = "cudarc has no safe form of it")]
impl Drop for Ready<'_> {
    fn drop(&mut self) {
        for address in self.buffers.drain(..) {
            // SAFETY: allocated here, and what used it is over: its time was waited for. An error was told by that.
            let _ = unsafe { result::free_sync(address) };
        }
    }
}

impl From<DriverError> for Failure {
    fn from(error: DriverError) -> Self {
        Self::Driver(error)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(error) => error.fmt(f),
            Self::Compile(error) => error.fmt(f),
            Self::Kernel(error) => error.fmt(f),
            Self::Point(why) => f.write_str(why),
            Self::Driver(error) => f.write_str(&describe(error)),
        }
    }
}

impl Error for Failure {}
