//! Does what a case's directives say, on an open device.

use std::collections::HashMap;
use std::error::Error;
use std::ffi::c_void;
use std::fmt;

use cudarc::driver::{DriverError, result, sys};
use fusion_device::{CompileError, Device, KernelError, OpenError, Options, Program, Source, describe};
use fusion_machine::report::Class;
use fusion_machine::{Fault, Report};
use fusion_suite::{Argument, Launch};

use crate::case::{Case, Copy, ParseError, Step};

/// What happened.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// What the emulated device found, in its order; empty on a real one.
    pub faults: Vec<Fault>,
    /// What the driver said, where a step failed.
    pub error: Option<String>,
}

/// Why a case could not be run.
#[derive(Debug)]
pub enum Failure {
    Parse(ParseError),
    Open(OpenError),
    Compile(CompileError),
    Kernel(KernelError),
    /// A step names what is not there.
    Name(String),
    /// The driver refused something that is no part of the case, such as an allocation.
    Driver(DriverError),
}

/// Runs the case. The device's context is not to be used afterwards.
pub(crate) fn run(case: &Case, device: &Device) -> Result<Outcome, Failure> {
    // What came before is not this case's.
    drop(report(device));
    let program = compile(case, device)?;
    let mut run = Run { device, program: &program, buffers: HashMap::new(), streams: HashMap::new(), host: Vec::new() };
    run.prepare(case)?;
    let ended = case.steps.iter().try_for_each(|step| run.step(step)).and_then(|()| run.finish());
    let error = match ended {
        Ok(()) => None,
        Err(Failure::Driver(error)) => Some(describe(&error)),
        Err(failure) => return Err(failure),
    };
    Ok(Outcome { faults: findings(case, report(device)), error })
}

fn report(device: &Device) -> Report {
    device.emulator().and_then(|emulator| emulator.take_report().ok()).unwrap_or_default()
}

/// Everything that a report says, errors first, without the lints that the case did not ask for.
fn findings(case: &Case, report: Report) -> Vec<Fault> {
    let mut found: Vec<Fault> = Vec::new();
    let launches = report.launches.into_iter().flat_map(|launch| launch.findings);
    let asked = |fault: &Fault| match fault.code().class() {
        Class::Arithmetic => case.checks.arithmetic,
        Class::Speed => case.checks.performance,
        _ => true,
    };
    for mut fault in report.faults.into_iter().chain(launches).chain(report.advice) {
        fault.earlier.retain(asked);
        if asked(&fault) && !found.contains(&fault) {
            found.push(fault);
        }
    }
    found
}

fn compile(case: &Case, device: &Device) -> Result<Program, Failure> {
    let mut headers = Vec::new();
    for name in &case.headers {
        let text = case.header(name);
        let text = text.ok_or_else(|| Failure::Name(format!("there is no header {name} beside the case")))?;
        headers.push(Source { name, text });
    }
    let file = case.file();
    let source = Source { name: &file, text: &case.source };
    let options = Options { arguments: case.options.clone(), ..Options::default() };
    if case.line_info || !device.is_emulated() {
        return device.compile(&source, &headers, &options).map_err(Failure::Compile);
    }
    let (major, minor) = device.properties.compute_capability;
    let compiler = device.compiler().map_err(Failure::Compile)?;
    let mut compiled = compiler.ptx(&source, &headers, major * 10 + minor, &options).map_err(Failure::Compile)?;
    compiled.ptx = without_line_tables(&compiled.ptx);
    device.load(compiled).map_err(|error| Failure::Compile(CompileError::Load(error)))
}

fn without_line_tables(ptx: &str) -> String {
    let is_line = |line: &&str| !line.trim_start().starts_with(".loc") && !line.trim_start().starts_with(".file");
    ptx.lines().filter(is_line).map(|line| format!("{line}\n")).collect()
}

/// Device memory.
#[derive(Clone, Copy, Debug)]
struct Memory {
    address: u64,
    bytes: usize,
}

/// A case while it runs. Nothing is freed or destroyed in the end: the context is, with all that is in it.
struct Run<'a> {
    device: &'a Device,
    program: &'a Program,
    buffers: HashMap<String, Memory>,
    streams: HashMap<u32, sys::CUstream>,
    /// Host memory that copies and kernels may still use.
    host: Vec<Vec<u8>>,
}

#[expect(unsafe_code, reason = "a case does on purpose what cudarc's safe interface prevents")]
impl Run<'_> {
    /// Allocates and fills the buffers of all launches, in their order.
    fn prepare(&mut self, case: &Case) -> Result<(), Failure> {
        for step in &case.steps {
            let Step::Launch(launch) = step else { continue };
            for parameter in &launch.parameters {
                let Argument::Buffer { ty, len, fill } = &parameter.argument else { continue };
                if self.buffers.contains_key(&parameter.name) {
                    return Err(Failure::Name(format!("`{}` is there twice: name it alone", parameter.name)));
                }
                let bytes = ty.size() * len;
                // SAFETY: the context is current since the device was opened, and the memory is as long as what is copied.
                let address = unsafe { result::malloc_sync(bytes) }?;
                if let Some(contents) = fill.bytes(*ty, *len) {
                    // SAFETY: as above.
                    unsafe { result::memcpy_htod_sync(address, &contents) }?;
                }
                self.buffers.insert(parameter.name.clone(), Memory { address, bytes });
            }
        }
        result::ctx::synchronize()?;
        Ok(())
    }

    fn step(&mut self, step: &Step) -> Result<(), Failure> {
        match step {
            Step::Launch(launch) => self.launch(launch),
            Step::Copy(copy) => self.copy(copy),
            Step::Wait { stream, after } => {
                let (stream, after) = (self.stream(*stream)?, self.stream(*after)?);
                let event = result::event::create(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING)?;
                // SAFETY: the event and both streams are alive until the context is destroyed.
                unsafe {
                    result::event::record(event, after)?;
                    let flags = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
                    result::stream::wait_event(stream, event, flags)?;
                }
                Ok(())
            }
            Step::Sync => Ok(result::ctx::synchronize()?),
            Step::Free(name) => {
                let memory = self.memory(name)?;
                // SAFETY: it was allocated; whether something still uses it is what the case is about.
                unsafe { result::free_sync(memory.address) }?;
                Ok(())
            }
        }
    }

    fn finish(&mut self) -> Result<(), Failure> {
        Ok(result::ctx::synchronize()?)
    }

    fn launch(&mut self, launch: &Launch) -> Result<(), Failure> {
        let kernel = self.program.kernel(&launch.kernel).map_err(Failure::Kernel)?;
        let mut values = Vec::new();
        for parameter in &launch.parameters {
            values.push(self.value(&parameter.name, &parameter.argument)?);
        }
        let mut pointers: Vec<*mut c_void> = values.iter_mut().map(|value| value.as_mut_ptr().cast()).collect();
        let function = kernel.cu_function();
        if launch.shared > 48 << 10 {
            let limit = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            kernel.set_attribute(limit, i32::try_from(launch.shared).unwrap_or(i32::MAX))?;
        }
        let (stream, enqueue) = (self.stream(launch.stream)?, launch.cooperative);
        // SAFETY: the directive gives every parameter of the kernel its bytes, padded to 256. A case that does not,
        // or whose kernel writes where it should not, harms a process whose one purpose is to run such cases.
        unsafe {
            match enqueue {
                true => result::launch_cooperative_kernel(
                    function,
                    launch.grid,
                    launch.block,
                    launch.shared,
                    stream,
                    &mut pointers,
                ),
                false => {
                    result::launch_kernel(function, launch.grid, launch.block, launch.shared, stream, &mut pointers)
                }
            }
        }?;
        Ok(())
    }

    /// The bytes of a parameter, and zeros behind them in case the kernel's parameter is larger.
    fn value(&mut self, name: &str, argument: &Argument) -> Result<Vec<u8>, Failure> {
        let address = |address: u64| address.to_le_bytes().to_vec();
        let mut bytes = match argument {
            Argument::Buffer { .. } => address(self.memory(name)?.address),
            Argument::Inside { buffer, offset } => address(self.memory(buffer)?.address.wrapping_add_signed(*offset)),
            Argument::Null => address(0),
            Argument::Host(len) => {
                self.host.push(vec![0; *len]);
                address(self.host.last().map_or(0, |memory| memory.as_ptr() as u64))
            }
            Argument::Freed(len) => {
                // SAFETY: freed once, and not used by the host.
                let freed = unsafe {
                    let memory = result::malloc_sync(*len)?;
                    result::free_sync(memory)?;
                    memory
                };
                address(freed)
            }
            Argument::Number(bytes) | Argument::Value(bytes) => bytes.clone(),
            Argument::Tensor(tensor) => {
                let map = tensor.encode(self.memory(&tensor.buffer)?.address)?;
                map.opaque.iter().flat_map(|word| word.to_le_bytes()).collect()
            }
        };
        bytes.resize(bytes.len().max(256), 0);
        Ok(bytes)
    }

    fn copy(&mut self, copy: &Copy) -> Result<(), Failure> {
        let memory = self.memory(&copy.buffer)?;
        let stream = (copy.stream > 0).then(|| self.stream(copy.stream)).transpose()?;
        // The host's side lives as long as the run, so that it outlives the copy.
        self.host.push(vec![0; memory.bytes]);
        let Some(host) = self.host.last_mut() else { return Ok(()) };
        // SAFETY: both sides are as long as the copy and outlive it.
        unsafe {
            match (copy.to_host, stream) {
                (true, None) => result::memcpy_dtoh_sync(host, memory.address),
                (false, None) => result::memcpy_htod_sync(memory.address, host),
                (true, Some(stream)) => result::memcpy_dtoh_async(host, memory.address, stream),
                (false, Some(stream)) => result::memcpy_htod_async(memory.address, host, stream),
            }
        }?;
        Ok(())
    }

    fn memory(&self, name: &str) -> Result<Memory, Failure> {
        self.buffers.get(name).copied().ok_or_else(|| Failure::Name(format!("there is no buffer `{name}`")))
    }

    /// 0 is the default stream, 1 the device's own, and others are made when they are first used.
    fn stream(&mut self, number: u32) -> Result<sys::CUstream, Failure> {
        match number {
            0 => Ok(result::stream::null()),
            1 => Ok(self.device.stream.cu_stream()),
            _ => match self.streams.get(&number) {
                Some(stream) => Ok(*stream),
                None => {
                    let stream = result::stream::create(result::stream::StreamKind::NonBlocking)?;
                    self.streams.insert(number, stream);
                    Ok(stream)
                }
            },
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
            Self::Parse(error) => error.fmt(f),
            Self::Open(error) => error.fmt(f),
            Self::Compile(error) => error.fmt(f),
            Self::Kernel(error) => error.fmt(f),
            Self::Name(text) => f.write_str(text),
            Self::Driver(error) => f.write_str(&describe(error)),
        }
    }
}

impl Error for Failure {}
