//! The launch of `rmsnorm_short_rows`: x / sqrt(mean of the row's x^2 + 1e-6) * weight.

use std::sync::Arc;

use cudarc::driver::{
    CudaModule, CudaStream, CudaView, CudaViewMut, DevicePtr, DriverError, LaunchConfig, PushKernelArg,
};
use half::f16;

/// Queues one launch of a kernel in `module` on `stream`.
///
/// `x` and `out` hold `rows` rows of `columns` elements; `weight` holds `columns`.
pub(super) fn rmsnorm_short_rows(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    x: &CudaView<'_, f16>,
    weight: &CudaView<'_, f16>,
    out: &mut CudaViewMut<'_, f16>,
    rows: usize,
    columns: usize,
) -> Result<(), DriverError> {
    const THREADS: usize = 128;
    // Threads that share a row, and packs of eight elements that each of them can hold.
    const LADDER: [(usize, usize); 5] = [(4, 2), (8, 2), (16, 2), (32, 2), (32, 4)];

    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let whole_packs = columns.is_multiple_of(8)
        && [x, weight].iter().all(|view| view.device_ptr(stream).0 % 16 == 0)
        && out.device_ptr(stream).0 % 16 == 0;
    let fewest = LADDER.into_iter().find(|(threads, packs)| whole_packs && 8 * threads * packs >= columns);
    let (name, blocks) = match fewest {
        Some((threads, packs)) => (format!("rmsnorm_{threads}_{packs}"), rows.div_ceil(THREADS / threads)),
        None => ("rmsnorm_any".to_owned(), rows),
    };
    let kernel = module.load_function(&name)?;
    // More blocks than a grid can have are refused by the driver.
    let blocks = u32::try_from(blocks).unwrap_or(u32::MAX);
    let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (THREADS as u32, 1, 1), shared_mem_bytes: 0 };
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only the first `rows` rows of
    // `columns` elements, which the views have.
    unsafe { stream.launch_builder(&kernel).arg(x).arg(weight).arg(out).arg(&rows).arg(&columns).launch(config) }?;
    Ok(())
}
