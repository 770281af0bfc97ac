//! The launch of `rmsnorm_short_rows`: x / sqrt(mean of the row's x^2 + 1e-6) * weight.

use std::sync::Arc;

use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg};
use half::f16;

/// Queues one launch of a kernel in `module` on `stream`.
///
/// `x` and `out` hold `rows` rows of `columns` elements; `weight` holds `columns`.
pub fn rmsnorm_short_rows(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    x: &CudaView<'_, f16>,
    weight: &CudaView<'_, f16>,
    out: &mut CudaViewMut<'_, f16>,
    rows: usize,
    columns: usize,
) -> Result<(), DriverError> {
    const THREADS: usize = 256;

    if rows == 0 || columns == 0 {
        return Ok(());
    }
    // About eight to sixteen elements a lane, up to a whole warp.
    let lanes: i32 = match columns {
        0..=64 => 8,
        65..=256 => 16,
        _ => 32,
    };
    let kernel = module.load_function("rmsnorm_short_rows")?;
    // More blocks than a grid can have are refused by the driver.
    let blocks = u32::try_from(rows.div_ceil(THREADS / lanes as usize)).unwrap_or(u32::MAX);
    let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (THREADS as u32, 1, 1), shared_mem_bytes: 0 };
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(x).arg(weight).arg(out).arg(&rows).arg(&columns).arg(&lanes);
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only the elements of `rows` rows
    // of `columns`, and of a single row, which the views have.
    unsafe { launch.launch(config) }?;
    Ok(())
}
