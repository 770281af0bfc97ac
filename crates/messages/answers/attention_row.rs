//! The launch of `attention_row`: out = softmax(q k^T / sqrt(d)) v for each head.

use std::sync::Arc;

use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg};

/// Queues one launch of a kernel in `module` on `stream`.
///
/// `q`, `k`, `v` and `out` hold `heads` heads of `length` rows of `head_dim` elements, which is 64 or 128; the other numbers may be 0.
#[allow(clippy::too_many_arguments)] // The operation has so many.
pub fn attention_row(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    q: &CudaView<'_, f32>,
    k: &CudaView<'_, f32>,
    v: &CudaView<'_, f32>,
    out: &mut CudaViewMut<'_, f32>,
    heads: usize,
    length: usize,
    head_dim: usize,
) -> Result<(), DriverError> {
    if heads == 0 || length == 0 {
        return Ok(());
    }
    let kernel = module.load_function("attention_row")?;
    // More blocks than a grid can have are refused by the driver.
    let blocks = u32::try_from(heads * length.div_ceil(16)).unwrap_or(u32::MAX);
    let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (128, 1, 1), shared_mem_bytes: 0 };
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(q).arg(k).arg(v).arg(out).arg(&heads).arg(&length).arg(&head_dim);
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only the elements that the sizes
    // say, which the views have.
    unsafe { launch.launch(config) }?;
    Ok(())
}
