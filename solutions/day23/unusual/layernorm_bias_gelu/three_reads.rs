use std::sync::Arc;

use cudarc::driver::{
    CudaModule, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg,
};

/// Queues one launch of a kernel in `module` on `stream`.
///
/// x and out hold `rows` rows of `columns` elements; either number may be 0. The others hold `columns` elements.
#[allow(clippy::too_many_arguments)]
pub fn layernorm_bias_gelu(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    x: &CudaView<'_, f32>,
    gamma: &CudaView<'_, f32>,
    beta: &CudaView<'_, f32>,
    bias: &CudaView<'_, f32>,
    out: &mut CudaViewMut<'_, f32>,
    rows: usize,
    columns: usize,
) -> Result<(), DriverError> {
    if rows == 0 || columns == 0 {
        return Ok(());
    }
    // A thread holds at most four packs of four elements, or eight from 512 threads on. A block has one row, or four
    // where a warp has a row each.
    let threads = match columns {
        ..=4096 => columns.div_ceil(16).next_power_of_two().max(32),
        4097..=16384 => 512,
        _ => 1024,
    };
    let (rows_a_block, block) = if threads == 32 { (4, 128) } else { (1, threads) };

    let kernel = module.load_function(&format!("layernorm_bias_gelu_{threads}"))?;
    let config = LaunchConfig {
        grid_dim: (rows.div_ceil(rows_a_block) as u32, 1, 1),
        block_dim: (block as u32, 1, 1),
        shared_mem_bytes: 0,
    };
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(x).arg(gamma).arg(beta).arg(bias).arg(out).arg(&rows).arg(&columns);
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only the elements of `rows` rows
    // of `columns`, and of single rows, which the views have.
    unsafe { launch.launch(config) }?;
    Ok(())
}
