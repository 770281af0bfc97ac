//! The launch of `rmsnorm_fp8`: RMSNorm, then e4m3 with one scale a row.

use std::sync::Arc;

use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
use cudarc::driver::{
    CudaModule, CudaStream, CudaView, CudaViewMut, DevicePtr, DriverError, LaunchConfig, PushKernelArg,
};
use half::bf16;

/// Queues one launch of a kernel in `module` on `stream`.
///
/// `x` and `q` are row-major matrices of `rows` rows and `columns` columns. `weight` has one element per column,
/// `scale` one per row. A `u8` here has the bits of an e4m3 there. There may be no rows or no columns; nothing is
/// launched then.
pub(super) fn rmsnorm_fp8(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    x: &CudaView<'_, bf16>,
    weight: &CudaView<'_, bf16>,
    q: &mut CudaViewMut<'_, u8>,
    scale: &mut CudaViewMut<'_, f32>,
    rows: usize,
    columns: usize,
) -> Result<(), DriverError> {
    // Threads that share a row, and packs of eight elements that each of them can hold.
    const MANY: [(usize, usize); 3] = [(32, 4), (128, 4), (256, 8)];
    const FEW: [(usize, usize); 5] = [(128, 1), (256, 1), (512, 1), (1024, 1), (1024, 2)];

    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let multiprocessors = stream.context().attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)? as usize;
    let whole_packs = columns.is_multiple_of(8)
        && [x, weight].iter().all(|view| view.device_ptr(stream).0 % 16 == 0)
        && q.device_ptr(stream).0 % 8 == 0;
    // With a row or less for each multiprocessor there are threads to spare, and less work for each is done sooner.
    let (ladder, kind) = if rows <= multiprocessors { (FEW.as_slice(), "few_") } else { (MANY.as_slice(), "") };
    let (name, threads) = match ladder.iter().find(|(threads, packs)| whole_packs && 8 * threads * packs >= columns) {
        Some((threads, packs)) => (format!("rmsnorm_fp8_{kind}{threads}_{packs}"), *threads),
        // A block of its own for each row; of 32 threads it would be shared.
        None => ("rmsnorm_fp8_any".to_owned(), columns.min(256).next_power_of_two().max(64)),
    };
    let kernel = module.load_function(&name)?;
    // Rows that one warp holds share a block of four.
    let block = if threads == 32 { 128 } else { threads };
    // More blocks than a grid can have are refused by the driver.
    let blocks = u32::try_from(rows.div_ceil(block / threads)).unwrap_or(u32::MAX);
    let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (block as u32, 1, 1), shared_mem_bytes: 0 };
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only the first `rows` rows of
    // `columns` elements, which the views have.
    unsafe { stream.launch_builder(&kernel).arg(x).arg(weight).arg(q).arg(scale).arg(&rows).arg(&columns).launch(config) }?;
    Ok(())
}
