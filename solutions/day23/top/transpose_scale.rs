//! The launch of `transpose_scale`: out[j, i] = s * x[i, j].

use std::sync::Arc;

use cudarc::driver::{
    CudaModule, CudaStream, CudaView, CudaViewMut, DevicePtr, DriverError, LaunchConfig, PushKernelArg,
};

/// Queues one launch of a kernel in `module` on `stream`.
///
/// x holds `rows` rows of `columns` elements, and out holds `columns` rows of `rows`; either number may be 0.
pub(super) fn transpose_scale(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    x: &CudaView<'_, f32>,
    out: &mut CudaViewMut<'_, f32>,
    s: f32,
    rows: usize,
    columns: usize,
) -> Result<(), DriverError> {
    if rows == 0 || columns == 0 {
        return Ok(());
    }
    // Each row of x begins a pack, and each row of out does.
    let whole_packs = rows.is_multiple_of(4)
        && columns.is_multiple_of(4)
        && x.device_ptr(stream).0 % 16 == 0
        && out.device_ptr(stream).0 % 16 == 0;
    let (name, edge) = if whole_packs { ("transpose_scale_packs", 64) } else { ("transpose_scale_any", 32) };
    let kernel = module.load_function(name)?;
    // More blocks than a grid can have are refused by the driver.
    let tiles = |length: usize| u32::try_from(length.div_ceil(edge)).unwrap_or(u32::MAX);
    let config =
        LaunchConfig { grid_dim: (tiles(rows), tiles(columns), 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 };
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(x).arg(out).arg(&s).arg(&rows).arg(&columns);
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only the elements of `rows` rows
    // of `columns`, which both views have.
    unsafe { launch.launch(config) }?;
    Ok(())
}
