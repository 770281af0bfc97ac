//! Executes one case on a device and compares what it left behind.

use std::error::Error;
use std::fmt;

use cudarc::driver::sys::CUtensorMap;
use cudarc::driver::{CudaFunction, CudaSlice, DevicePtr, DeviceRepr, DriverError, LaunchConfig, PushKernelArg};
use fusion_device::{Compiled, Device, LoadError};

use crate::case::{Buffer, BufferKind, Case, MAX_PARAM_BYTES};
use crate::expand::{ENTRY, module_text};
use crate::value::{Expected, Tolerance, Type};

/// What an element that nothing wrote holds.
const POISON: u8 = 0xcd;

/// Why a case did not pass.
#[derive(Debug)]
pub enum Failure {
    /// The driver refused the module.
    Load(LoadError),
    /// The module has no entry named `test`.
    NoEntry,
    /// The launch, or a copy around it, failed: the context is unusable from now on. `faults` is what the emulated
    /// device has to say about it.
    Execution { error: DriverError, faults: Vec<String> },
    /// Elements are not what the file asks for.
    Wrong { buffer: String, ty: Type, first: Mismatch, wrong: usize, total: usize },
}

/// The first wrong element.
#[derive(Clone, Copy, Debug)]
pub struct Mismatch {
    /// In a body, the number of the thread in the grid.
    pub index: usize,
    pub expected: Expected,
    pub tolerance: Tolerance,
    pub actual: u64,
}

/// Loads the case's module, launches it once, and compares its buffers.
///
/// # Errors
/// The first way in which the case did not do what its file says.
pub fn run(case: &Case, device: &Device) -> Result<(), Failure> {
    let after = execute(case, device)?;
    case.buffers.iter().zip(&after).try_for_each(|(buffer, bytes)| compare(buffer, bytes))
}

/// Loads the case's module and launches it once: the bytes of each buffer afterwards.
pub(crate) fn execute(case: &Case, device: &Device) -> Result<Vec<Vec<u8>>, Failure> {
    let program = device.load(image(case, device)).map_err(Failure::Load)?;
    let kernel = program.kernel(ENTRY).map_err(|_| Failure::NoEntry)?;
    buffers_after(case, device, &kernel).map_err(|error| Failure::execution(error, device))
}

fn image(case: &Case, device: &Device) -> Compiled {
    Compiled {
        name: case.name.clone(),
        ptx: module_text(case),
        machine_code: None,
        architecture: 0,
        // Not compiled at all, so no compiler can be newer than the driver.
        version: device.properties.driver,
        diagnostics: Vec::new(),
        log: String::new(),
    }
}

/// What a parameter of the kernel is made from.
enum Argument {
    Address(CudaSlice<u8>),
    Value(Value),
    Map(Map),
}

/// A tensor map.
#[repr(transparent)]
struct Map(CUtensorMap);

// SAFETY: plain bytes.
#[expect(unsafe_code, reason = "it is what cudarc asks for")]
unsafe impl DeviceRepr for Map {}

/// The bytes of a parameter that is passed by value; the driver reads as many of them as the parameter has.
#[repr(C, align(16))]
struct Value([u8; MAX_PARAM_BYTES]);

// SAFETY: plain bytes.
#[expect(unsafe_code, reason = "it is what cudarc asks for")]
unsafe impl DeviceRepr for Value {}

fn buffers_after(case: &Case, device: &Device, kernel: &CudaFunction) -> Result<Vec<Vec<u8>>, DriverError> {
    let mut arguments = Vec::with_capacity(case.buffers.len());
    for buffer in &case.buffers {
        let argument = match &buffer.tensor {
            Some(tensor) => {
                let of = case.buffers.iter().zip(&arguments).find(|(buffer, _)| buffer.name == tensor.buffer);
                let address = match of {
                    Some((_, Argument::Address(memory))) => memory.device_ptr(&device.stream).0,
                    _ => 0,
                };
                Argument::Map(Map(tensor.encode(address)?))
            }
            None => argument(buffer, device)?,
        };
        arguments.push(argument);
    }
    launch(case, device, kernel, &mut arguments)?;
    device.stream.synchronize()?;
    let after = |argument| match argument {
        Argument::Address(memory) => device.stream.clone_dtoh(&memory),
        Argument::Value(_) | Argument::Map(_) => Ok(Vec::new()),
    };
    arguments.into_iter().map(after).collect()
}

fn argument(buffer: &Buffer, device: &Device) -> Result<Argument, DriverError> {
    let mut bytes = buffer.bytes_before();
    if buffer.kind == BufferKind::Param {
        let mut value = Value([0; MAX_PARAM_BYTES]);
        value.0[..bytes.len()].copy_from_slice(&bytes);
        return Ok(Argument::Value(value));
    }
    bytes.resize(buffer.len() * buffer.ty.size(), POISON);
    device.stream.clone_htod(&bytes).map(Argument::Address)
}

#[expect(unsafe_code, reason = "cudarc cannot know what a kernel does with its parameters")]
fn launch(case: &Case, device: &Device, kernel: &CudaFunction, arguments: &mut [Argument]) -> Result<(), DriverError> {
    let config = LaunchConfig {
        grid_dim: (case.geometry.blocks, 1, 1),
        block_dim: (case.geometry.threads, 1, 1),
        shared_mem_bytes: case.geometry.shared,
    };
    let mut builder = device.stream.launch_builder(kernel);
    for argument in arguments {
        match argument {
            Argument::Address(memory) => builder.arg(memory),
            Argument::Value(value) => builder.arg(&*value),
            Argument::Map(map) => builder.arg(&*map),
        };
    }
    // SAFETY: the entry's parameters are the buffers' addresses and values, by the rule that `Case` states. A file that
    // breaks it can only damage device memory of a process whose one purpose is to run such files.
    unsafe { builder.launch(config) }.map(drop)
}

/// The bits of an element in memory.
pub(crate) fn element_bits(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

fn compare(buffer: &Buffer, bytes: &[u8]) -> Result<(), Failure> {
    let actual = bytes.chunks_exact(buffer.ty.size()).map(element_bits);
    let elements = buffer.after.iter().zip(actual).enumerate();
    let mut wrong = elements.filter(|&(_, (&expected, actual))| !buffer.ty.accepts(expected, buffer.tolerance, actual));
    let Some((index, (&expected, actual))) = wrong.next() else { return Ok(()) };
    Err(Failure::Wrong {
        buffer: buffer.name.clone(),
        ty: buffer.ty,
        first: Mismatch { index, expected, tolerance: buffer.tolerance, actual },
        wrong: 1 + wrong.count(),
        total: buffer.after.len(),
    })
}

impl Failure {
    fn execution(error: DriverError, device: &Device) -> Self {
        let report = device.emulator().and_then(|emulator| emulator.take_report().ok());
        let faults = report.into_iter().flat_map(|report| report.faults).map(|fault| {
            let at = fault.ptx.as_ref().map(|at| format!(" at `{}`", at.text.trim())).unwrap_or_default();
            format!("{fault}{at}")
        });
        Self::Execution { error, faults: faults.collect() }
    }

    /// Whether the context must be replaced before anything else can run.
    pub fn breaks_context(&self) -> bool {
        matches!(self, Self::Execution { .. })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Load(error) => error.fmt(f),
            Self::NoEntry => write!(f, "the module has no entry named `{ENTRY}`"),
            Self::Execution { error, faults } => {
                write!(f, "the kernel did not end well: {error}")?;
                faults.iter().try_for_each(|fault| write!(f, "\n{fault}"))
            }
            Self::Wrong { buffer, ty, first, wrong, total } => {
                let Mismatch { index, expected, tolerance, actual } = first;
                write!(f, "{buffer}[{index}] is {}, expected ", ty.show(*actual))?;
                match expected {
                    Expected::Bits(bits) => f.write_str(&ty.show(*bits))?,
                    Expected::Nan => f.write_str("a NaN")?,
                    Expected::Any => f.write_str("anything")?,
                }
                write!(f, "{tolerance}; {wrong} of {total} elements are wrong")
            }
        }
    }
}

impl Error for Failure {}
