//! The launch of `adamw_multi`: AdamW of many tensors at once, in place.

use std::sync::Arc;

// TODO(imports): the launch needs `LaunchConfig` and `PushKernelArg` as well.
use cudarc::driver::{CudaModule, CudaStream, CudaView, DriverError};
// END TODO

/// Queues one launch of the kernel `adamw_multi` in `module` on `stream`.
///
/// `tensors` holds five numbers for each tensor: the addresses of its p, g, m and v, and how many elements it has.
/// `chunks` holds two for each chunk: the tensor's number, and which of its pieces of 4,096 elements it is.
#[allow(clippy::too_many_arguments)]
pub fn adamw_multi(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    tensors: &CudaView<'_, u64>,
    chunks: &CudaView<'_, i32>,
    lr: f32,
    beta1: f32,
    beta2: f32,
    epsilon: f32,
    weight_decay: f32,
    correction1: f32,
    correction2: f32,
) -> Result<(), DriverError> {
    // TODO(launch): launch the kernel.
    //   1. A grid of no blocks is an error: when there are no chunks, return at once.
    //   2. `module.load_function("adamw_multi")?` gives the kernel.
    //   3. `stream.launch_builder(&kernel)` takes the arguments with `.arg(...)`, in the order of the kernel's
    //      parameters: `tensors`, `chunks`, and each number as `&lr`, `&beta1` and so on.
    //   4. `.launch(config)` with a `LaunchConfig` that has one block for each chunk. It is `unsafe`: the tables lead the
    //      kernel to memory that no view here stands for, and nobody checks that but you.
    let _ = (stream, module, tensors, chunks, lr, beta1, beta2, epsilon, weight_decay, correction1, correction2);
    Ok(())
    // END TODO
}
