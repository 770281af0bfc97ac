//! The launch of `softmax`: exp(x - largest of the row) / their sum over the row.

use std::sync::Arc;

use cudarc::driver::{
    CudaModule, CudaStream, CudaView, CudaViewMut, DevicePtr, DriverError, LaunchConfig, PushKernelArg,
};

/// Queues one launch of a kernel in `module` on `stream`.
///
/// x and out hold `rows` rows of `columns` elements; either number may be 0.
pub(super) fn softmax(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    x: &CudaView<'_, f32>,
    out: &mut CudaViewMut<'_, f32>,
    rows: usize,
    columns: usize,
) -> Result<(), DriverError> {
    // Threads that share a row, and packs of four elements that each of them can hold.
    const LADDER: [(usize, usize); 6] = [(32, 4), (64, 4), (128, 4), (256, 4), (512, 4), (1024, 4)];

    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let whole_packs = columns.is_multiple_of(4)
        && x.device_ptr(stream).0 % 16 == 0
        && out.device_ptr(stream).0 % 16 == 0;
    let fewest = LADDER.into_iter().find(|(threads, packs)| whole_packs && 4 * threads * packs >= columns);
    let (name, threads) = match fewest {
        Some((threads, packs)) => (format!("softmax_{threads}_{packs}"), threads),
        // A block of its own for each row; of 32 threads it would be shared.
        None => ("softmax_any".to_owned(), columns.min(256).next_power_of_two().max(64)),
    };
    let kernel = module.load_function(&name)?;
    // Rows that one warp holds share a block of four.
    let block = if threads == 32 { 128 } else { threads };
    // More blocks than a grid can have are refused by the driver.
    let blocks = u32::try_from(rows.div_ceil(block / threads)).unwrap_or(u32::MAX);
    let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (block as u32, 1, 1), shared_mem_bytes: 0 };
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(x).arg(out).arg(&rows).arg(&columns);
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only the elements of `rows` rows
    // of `columns`, which the views have.
    unsafe { launch.launch(config) }?;
    Ok(())
}
