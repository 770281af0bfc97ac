//! Executes one case on a device and compares what it left behind.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use cudarc::driver::{CudaSlice, CudaStream, DriverError, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::Ptx;

use crate::case::{Buffer, Case};
use crate::expand::{ENTRY, module_text};
use crate::value::{Expected, Tolerance, Type};

/// What an element that nothing wrote holds.
const POISON: u8 = 0xcd;

/// Why a case did not pass.
#[derive(Debug)]
pub enum Failure {
    /// The driver refused the module.
    Load(DriverError),
    /// The launch, or a copy after it, failed: the context is unusable from now on.
    Execution(DriverError),
    /// Elements are not what the file asks for.
    Mismatch { buffer: String, ty: Type, first: Mismatch, wrong: usize, total: usize },
}

/// The first wrong element.
#[derive(Clone, Copy, Debug)]
pub struct Mismatch {
    pub index: usize,
    pub expected: Expected,
    pub tolerance: Tolerance,
    pub actual: u64,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Load(error) => write!(f, "the module was refused: {error:?}"),
            Self::Execution(error) => write!(f, "the kernel did not end well: {error:?}"),
            Self::Mismatch { buffer, ty, first, wrong, total } => {
                let Mismatch { index, expected, tolerance, actual } = first;
                write!(f, "{buffer}[{index}] is {}, expected ", ty.show(*actual))?;
                match expected {
                    Expected::Bits(bits) => f.write_str(&ty.show(*bits))?,
                    Expected::Nan => f.write_str("a NaN")?,
                    Expected::Any => f.write_str("anything")?,
                }
                match tolerance {
                    Tolerance::Exact => {}
                    Tolerance::Absolute(error) => write!(f, " within {error:e}")?,
                    Tolerance::Relative(error) => write!(f, " within a factor of 1 +- {error:e}")?,
                    Tolerance::Ulp(count) => write!(f, " within {count} ulp")?,
                }
                write!(f, "; {wrong} of {total} elements are wrong")
            }
        }
    }
}

impl Error for Failure {}

impl Failure {
    /// Whether the context must be replaced before anything else can run.
    pub fn breaks_context(&self) -> bool {
        matches!(self, Self::Execution(_))
    }
}

/// Loads the case's module, launches it once, and compares its buffers.
///
/// # Errors
/// The first way in which the case did not do what its file says.
pub fn run(case: &Case, stream: &Arc<CudaStream>) -> Result<(), Failure> {
    let module = stream.context().load_module(Ptx::from_src(module_text(case))).map_err(Failure::Load)?;
    let kernel = module.load_function(ENTRY).map_err(Failure::Load)?;
    let buffers: Result<Vec<_>, _> = case.buffers.iter().map(|buffer| stream.clone_htod(&initial(buffer))).collect();
    let mut buffers = buffers.map_err(Failure::Execution)?;
    launch(case, stream, &kernel, &mut buffers).map_err(Failure::Execution)?;
    stream.synchronize().map_err(Failure::Execution)?;
    for (buffer, memory) in case.buffers.iter().zip(&buffers) {
        let bytes = stream.clone_dtoh(memory).map_err(Failure::Execution)?;
        compare(buffer, &bytes)?;
    }
    Ok(())
}

#[allow(unsafe_code)]
fn launch(
    case: &Case,
    stream: &Arc<CudaStream>,
    kernel: &cudarc::driver::CudaFunction,
    buffers: &mut [CudaSlice<u8>],
) -> Result<(), DriverError> {
    let config = LaunchConfig {
        grid_dim: (case.geometry.blocks, 1, 1),
        block_dim: (case.geometry.threads, 1, 1),
        shared_mem_bytes: case.geometry.shared,
    };
    let mut builder = stream.launch_builder(kernel);
    for buffer in buffers {
        builder.arg(buffer);
    }
    // SAFETY: the entry's parameters are the buffers' addresses, by the rule that `Case` states. A file
    // that breaks it can only damage the memory of a process whose one purpose is to run such files.
    unsafe { builder.launch(config) }.map(drop)
}

/// The bytes before the launch.
fn initial(buffer: &Buffer) -> Vec<u8> {
    let size = buffer.ty.size();
    if buffer.before.is_empty() {
        return vec![POISON; buffer.len() * size];
    }
    buffer.before.iter().flat_map(|bits| bits.to_le_bytes().into_iter().take(size)).collect()
}

fn compare(buffer: &Buffer, bytes: &[u8]) -> Result<(), Failure> {
    let actual = bytes.chunks_exact(buffer.ty.size()).map(|element| {
        let mut word = [0; 8];
        word[..element.len()].copy_from_slice(element);
        u64::from_le_bytes(word)
    });
    let mut wrong = buffer
        .after
        .iter()
        .zip(actual)
        .enumerate()
        .filter(|&(_, (&expected, actual))| !buffer.ty.accepts(expected, buffer.tolerance, actual));
    let Some((index, (&expected, actual))) = wrong.next() else { return Ok(()) };
    Err(Failure::Mismatch {
        buffer: buffer.name.clone(),
        ty: buffer.ty,
        first: Mismatch { index, expected, tolerance: buffer.tolerance, actual },
        wrong: 1 + wrong.count(),
        total: buffer.after.len(),
    })
}
