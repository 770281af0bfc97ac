//! The launch of `rmsnorm_short_rows`: x / sqrt(mean of the row's x^2 + 1e-6) * weight.

use std::sync::Arc;

use cudarc::driver::{
    CudaModule, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg,
};
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
    // As many threads as hold a row, each of them 2 packs of 16 bytes. Every kernel takes rows of any length: more
    // threads than the row needs would idle, fewer would read it more than once, as the last does where it is longest.
    const ELEMENTS_A_THREAD: usize = 16;

    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let ladder = [4, 8, 16, 32, 64];
    let threads = ladder.into_iter().find(|threads| threads * ELEMENTS_A_THREAD >= columns).unwrap_or(128);
    let kernel = module.load_function(&format!("rmsnorm_{threads}"))?;
    // Rows that a warp or less holds share a block of 128 threads.
    let block = if threads <= 32 { 128 } else { threads };
    let blocks = rows.div_ceil(block / threads) as u32;
    let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (block as u32, 1, 1), shared_mem_bytes: 0 };
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only the first `rows` rows of
    // `columns` elements, which the views have.
    unsafe { stream.launch_builder(&kernel).arg(x).arg(weight).arg(out).arg(&rows).arg(&columns).launch(config) }?;
    Ok(())
}
