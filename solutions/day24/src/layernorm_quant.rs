//! The launch of `layernorm_quant`: layernorm, then int8 with one scale a row.

use std::sync::Arc;

use cudarc::driver::{
    CudaModule, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg,
};

/// Queues one launch of a kernel in `module` on `stream`.
///
/// `x` and `q` are row-major matrices of `rows` rows and `columns` columns; `gamma` and `beta` have one
/// element a column, `scale` one a row. There may be no rows or no columns; nothing is launched then.
pub fn layernorm_quant(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    x: &CudaView<'_, f32>,
    gamma: &CudaView<'_, f32>,
    beta: &CudaView<'_, f32>,
    q: &mut CudaViewMut<'_, i8>,
    scale: &mut CudaViewMut<'_, f32>,
    rows: usize,
    columns: usize,
) -> Result<(), DriverError> {
    // Threads that share a row, and the elements that they can hold. Every kernel takes rows of any length: more threads
    // than the row needs would idle, fewer would read it more than once.
    const LADDER: [(usize, usize); 6] = [(32, 512), (64, 1024), (128, 2048), (256, 4096), (512, 16384), (1024, 32768)];

    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let (threads, _) = LADDER.into_iter().find(|&(_, held)| held >= columns).unwrap_or(LADDER[5]);
    let kernel = module.load_function(&format!("layernorm_quant_{threads}"))?;
    // Rows that one warp holds share a block of four.
    let block = if threads == 32 { 128 } else { threads };
    let blocks = rows.div_ceil(block / threads) as u32;
    let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (block as u32, 1, 1), shared_mem_bytes: 0 };
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only the first `rows` rows of
    // `columns` elements, which the views have.
    unsafe { stream.launch_builder(&kernel).arg(x).arg(gamma).arg(beta).arg(q).arg(scale).arg(&rows).arg(&columns).launch(config) }?;
    Ok(())
}
