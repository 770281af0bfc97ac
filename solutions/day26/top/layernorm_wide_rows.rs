//! The launch of `layernorm_wide_rows`: layernorm of long rows.

use std::sync::Arc;

use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH;
use cudarc::driver::{
    CudaModule, CudaStream, CudaView, CudaViewMut, DevicePtr, DriverError, LaunchConfig, PushKernelArg,
};

/// Queues one launch of a kernel in `module` on `stream`.
///
/// x and out hold `rows` rows of `columns` elements; either number may be 0. gamma and beta hold `columns` elements.
pub(super) fn layernorm_wide_rows(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    x: &CudaView<'_, f32>,
    gamma: &CudaView<'_, f32>,
    beta: &CudaView<'_, f32>,
    out: &mut CudaViewMut<'_, f32>,
    rows: usize,
    columns: usize,
) -> Result<(), DriverError> {
    const THREADS: usize = 512;
    // Elements that a block holds.
    const HELD: usize = 32 * THREADS;
    // Blocks that share a row: there is a kernel for each.
    const CLUSTERS: [usize; 4] = [1, 2, 4, 8];

    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let context = stream.context();
    let largest = if context.attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH)? != 0 { 8 } else { 1 };
    let whole_packs = columns.is_multiple_of(4)
        && [x, gamma, beta].iter().all(|view| view.device_ptr(stream).0 % 16 == 0)
        && out.device_ptr(stream).0 % 16 == 0;
    // As few blocks as hold the row.
    let holding = |blocks: &usize| whole_packs && *blocks <= largest && blocks * HELD >= columns;
    let blocks = CLUSTERS.into_iter().find(holding);
    let (name, blocks, threads) = match blocks {
        Some(blocks) => (format!("layernorm_wide_rows_{blocks}"), blocks, THREADS),
        None => ("layernorm_wide_rows_any".to_owned(), 1, columns.next_multiple_of(32).min(THREADS)),
    };
    let kernel = module.load_function(&name)?;
    let config = LaunchConfig {
        // More blocks than a grid can have are refused by the driver.
        grid_dim: (u32::try_from(rows.saturating_mul(blocks)).unwrap_or(u32::MAX), 1, 1),
        block_dim: (threads as u32, 1, 1),
        shared_mem_bytes: 0,
    };
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(x).arg(gamma).arg(beta).arg(out).arg(&rows).arg(&columns);
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only the elements of `rows` rows
    // of `columns`, and of single rows, which the views have.
    unsafe { launch.launch(config) }?;
    Ok(())
}
