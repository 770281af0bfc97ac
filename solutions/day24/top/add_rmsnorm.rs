//! The launch of `add_rmsnorm`: residual += x, and its RMSNorm.

use std::sync::Arc;

use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
use cudarc::driver::{
    CudaModule, CudaStream, CudaView, CudaViewMut, DevicePtr, DriverError, LaunchConfig, PushKernelArg,
};
use half::bf16;

/// Queues one launch of a kernel in `module` on `stream`.
///
/// `x`, `residual` and `out` are row-major matrices of `rows` rows and `columns` columns; `weight` has one
/// element a column. There may be no rows or no columns; nothing is launched then.
pub(super) fn add_rmsnorm(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    x: &CudaView<'_, bf16>,
    weight: &CudaView<'_, bf16>,
    residual: &mut CudaViewMut<'_, bf16>,
    out: &mut CudaViewMut<'_, bf16>,
    rows: usize,
    columns: usize,
) -> Result<(), DriverError> {
    // Threads that share a row, and packs of eight elements that each of them can hold.
    const LADDER: [(usize, usize); 7] = [(32, 1), (64, 1), (128, 1), (128, 2), (256, 2), (512, 2), (1024, 2)];

    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let multiprocessors = stream.context().attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)? as usize;
    let whole_packs = columns.is_multiple_of(8)
        && [x, weight].iter().all(|view| view.device_ptr(stream).0 % 16 == 0)
        && [&*residual, &*out].iter().all(|view| view.device_ptr(stream).0 % 16 == 0);
    // More threads than the row needs would idle. But with a row or less for each multiprocessor there are threads to
    // spare, and half as much work for each is done sooner.
    let mut holding = LADDER.into_iter().filter(|(threads, packs)| whole_packs && 8 * threads * packs >= columns);
    let (name, threads) = match (holding.next(), holding.next()) {
        (Some((fewest, _)), Some((threads, packs))) if threads > fewest && rows <= multiprocessors => {
            (format!("add_rmsnorm_{threads}_{packs}"), threads)
        }
        (Some((threads, packs)), _) => (format!("add_rmsnorm_{threads}_{packs}"), threads),
        // A block of its own for each row; of 32 threads it would be shared.
        (None, _) => ("add_rmsnorm_any".to_owned(), columns.min(256).next_power_of_two().max(64)),
    };
    let kernel = module.load_function(&name)?;
    // Rows that one warp holds share a block of four.
    let block = if threads == 32 { 128 } else { threads };
    // More blocks than a grid can have are refused by the driver.
    let blocks = u32::try_from(rows.div_ceil(block / threads)).unwrap_or(u32::MAX);
    let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (block as u32, 1, 1), shared_mem_bytes: 0 };
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only the first `rows` rows of
    // `columns` elements, which the views have.
    unsafe { stream.launch_builder(&kernel).arg(x).arg(weight).arg(residual).arg(out).arg(&rows).arg(&columns).launch(config) }?;
    Ok(())
}
