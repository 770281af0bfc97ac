//! The errors of the approximate instructions, over all inputs of each, on either device.

mod instruction;
mod report;

use std::error::Error;
use std::fmt;

use cudarc::driver::{CudaFunction, CudaSlice, DriverError, LaunchConfig, PushKernelArg};
use fusion_device::{Compiled, Device};

pub use instruction::{INSTRUCTIONS, Instruction};
pub use report::Measured;

/// Results that are computed and looked at in one go.
const CHUNK: u64 = 1 << 24;
const THREADS: u32 = 256;

/// Why an instruction could not be measured.
#[derive(Debug)]
pub struct MeasureError(String);

impl fmt::Display for MeasureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for MeasureError {}

/// Runs an instruction on every `every`-th of its inputs, on all if they are 16-bit numbers.
///
/// # Errors
/// What the driver says when it cannot load or run the kernel.
pub fn measure(instruction: &Instruction, device: &Device, every: u32) -> Result<Measured, MeasureError> {
    let failed = |error: &dyn Error| MeasureError(format!("{} could not be measured: {error}", instruction.name));
    let compiled = Compiled {
        name: instruction.name.to_owned(),
        ptx: instruction.module(),
        machine_code: None,
        architecture: 0,
        version: device.properties.driver,
        diagnostics: Vec::new(),
        log: String::new(),
    };
    let program = device.load(compiled).map_err(|error| failed(&error))?;
    let kernel = program.kernel("test").map_err(|error| failed(&error))?;
    sweep(instruction, device, &kernel, every).map_err(|error| failed(&error))
}

fn sweep(
    instruction: &Instruction,
    device: &Device,
    kernel: &CudaFunction,
    every: u32,
) -> Result<Measured, DriverError> {
    let every = if instruction.inputs() < 1 << 32 { 1 } else { every };
    let inputs = instruction.inputs().div_ceil(u64::from(every));
    let mut results: CudaSlice<u32> = device.stream.alloc_zeros(inputs.min(CHUNK) as usize)?;
    let mut host = vec![0; inputs.min(CHUNK) as usize];
    let mut measured = Measured::default();
    for first in (0..inputs).step_by(CHUNK as usize) {
        let count = (inputs - first).min(CHUNK) as u32;
        let start = (first * u64::from(every)) as u32;
        launch(device, kernel, &mut results, [start, every, count])?;
        device.stream.memcpy_dtoh(&results, &mut host)?;
        device.stream.synchronize()?;
        measured.merge(look_at(instruction, &host[..count as usize], start, every));
    }
    Ok(measured)
}

#[expect(unsafe_code, reason = "cudarc cannot know what a kernel does with its parameters")]
fn launch(
    device: &Device,
    kernel: &CudaFunction,
    results: &mut CudaSlice<u32>,
    [start, every, count]: [u32; 3],
) -> Result<(), DriverError> {
    let config =
        LaunchConfig { grid_dim: (count.div_ceil(THREADS), 1, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 };
    let mut builder = device.stream.launch_builder(kernel);
    builder.arg(results).arg(&start).arg(&every).arg(&count);
    // SAFETY: the kernel has these four parameters and writes `count` words, which is no more than there are.
    unsafe { builder.launch(config) }.map(drop)
}

/// Compares a chunk of results with the exact ones, on all cores.
fn look_at(instruction: &Instruction, results: &[u32], start: u32, every: u32) -> Measured {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let share = results.len().div_ceil(cores).max(1);
    std::thread::scope(|scope| {
        let part = |(i, part): (usize, &'_ [u32])| {
            let mut measured = Measured::default();
            for (k, &result) in (i * share..).zip(part) {
                let input = start.wrapping_add((k as u32).wrapping_mul(every));
                measured.add(input, result, instruction);
            }
            measured
        };
        let workers: Vec<_> = results.chunks(share).enumerate().map(|chunk| scope.spawn(move || part(chunk))).collect();
        let mut all = Measured::default();
        for worker in workers {
            // A worker only calculates; if it panicked, so do we.
            all.merge(worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        all
    })
}
