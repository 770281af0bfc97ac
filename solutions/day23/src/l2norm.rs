//! The launch of `l2norm`: x / (length of the row + 1e-12).

use std::sync::Arc;

use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg};

/// Queues one launch of a kernel in `module` on `stream`.
///
/// x and out hold `rows` rows of `columns` elements; either number may be 0.
pub fn l2norm(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    x: &CudaView<'_, f32>,
    out: &mut CudaViewMut<'_, f32>,
    rows: usize,
    columns: usize,
) -> Result<(), DriverError> {
    // As many as the kernel counts on.
    const THREADS: u32 = 256;

    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let kernel = module.load_function("l2norm")?;
    // More blocks than a grid can have are refused by the driver.
    let blocks = u32::try_from(rows).unwrap_or(u32::MAX);
    let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 };
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(x).arg(out).arg(&rows).arg(&columns);
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only the elements of `rows` rows
    // of `columns`, which the views have.
    unsafe { launch.launch(config) }?;
    Ok(())
}
