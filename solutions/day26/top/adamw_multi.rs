//! The launch of `adamw_multi`: AdamW of many tensors at once, in place.

use std::sync::Arc;

use cudarc::driver::{CudaModule, CudaStream, CudaView, DriverError, LaunchConfig, PushKernelArg};

/// Queues one launch of the kernel `adamw_multi` in `module` on `stream`.
///
/// `tensors` holds five numbers for each tensor: the addresses of its p, g, m and v, and how many elements it has.
/// `chunks` holds two for each chunk: the tensor's number, and which of its pieces of 4,096 elements it is.
#[allow(clippy::too_many_arguments)]
pub(super) fn adamw_multi(
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
    const THREADS: u32 = 256;

    let blocks = (chunks.len() / 2) as u32;
    if blocks == 0 {
        return Ok(());
    }
    let kernel = module.load_function("adamw_multi")?;
    let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 };
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(tensors).arg(chunks).arg(&lr).arg(&beta1).arg(&beta2).arg(&epsilon).arg(&weight_decay);
    launch.arg(&correction1).arg(&correction2);
    // SAFETY: the arguments are the kernel's parameters in their order. The tables lead it to the elements of the
    // tensors and no others, and nothing else uses these while the stream runs.
    unsafe { launch.launch(config) }?;
    Ok(())
}
