//! The launch of `add_rmsnorm`: residual += x, and its RMSNorm.

use std::sync::Arc;

use cudarc::driver::{
    CudaModule, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg,
};
use half::bf16;

/// Queues one launch of a kernel in `module` on `stream`.
///
/// `x`, `residual` and `out` are row-major matrices of `rows` rows and `columns` columns; `weight` has one
/// element a column. There may be no rows or no columns; nothing is launched then.
pub fn add_rmsnorm(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    x: &CudaView<'_, bf16>,
    weight: &CudaView<'_, bf16>,
    residual: &mut CudaViewMut<'_, bf16>,
    out: &mut CudaViewMut<'_, bf16>,
    rows: usize,
    columns: usize,
) -> Result<(), DriverError> {
    // As many threads as hold a row, each of them 2 packs of 16 bytes. Every kernel takes rows of any length: more
    // threads than the row needs would idle, fewer would read it more than once.
    const ELEMENTS_A_THREAD: usize = 16;

    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let ladder = [32, 64, 128, 256, 512];
    let threads = ladder.into_iter().find(|threads| threads * ELEMENTS_A_THREAD >= columns).unwrap_or(1024);
    let kernel = module.load_function(&format!("add_rmsnorm_{threads}"))?;
    // Rows that one warp holds share a block of four.
    let block = if threads == 32 { 128 } else { threads };
    let blocks = rows.div_ceil(block / threads) as u32;
    let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (block as u32, 1, 1), shared_mem_bytes: 0 };
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only the first `rows` rows of
    // `columns` elements, which the views have.
    unsafe { stream.launch_builder(&kernel).arg(x).arg(weight).arg(residual).arg(out).arg(&rows).arg(&columns).launch(config) }?;
    Ok(())
}
