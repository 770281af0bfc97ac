//! Launches of the lesson's kernels: one block, and buffers of words.

#![allow(unsafe_code)]

use cudarc::driver::{DriverError, LaunchConfig, PushKernelArg};
use fusion_device::{Device, Program};

/// Launches a kernel with one block, on inputs and an output of 32-bit words, and returns what is in the output then. It begins with
/// zeros.
pub(crate) fn launch(
    device: &Device,
    program: &Program,
    kernel: &str,
    threads: u32,
    inputs: &[Vec<u32>],
    words: usize,
) -> Result<Vec<u32>, DriverError> {
    let stream = &device.stream;
    let function = program.module.load_function(kernel)?;
    let inputs = inputs.iter().map(|input| stream.clone_htod(input)).collect::<Result<Vec<_>, _>>()?;
    let mut output = stream.alloc_zeros::<u32>(words)?;
    let mut builder = stream.launch_builder(&function);
    for input in &inputs {
        builder.arg(input);
    }
    builder.arg(&mut output);
    let config = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (threads, 1, 1), shared_mem_bytes: 0 };
    // SAFETY: a kernel of the lesson takes its inputs and its output, which have as many elements as its threads touch. Those that touch
    // others on purpose are only launched on the emulated device, which stops them.
    unsafe { builder.launch(config) }?;
    stream.clone_dtoh(&output)
}
