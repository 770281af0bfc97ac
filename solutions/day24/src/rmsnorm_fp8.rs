//! The launch of `rmsnorm_fp8`: RMSNorm, then e4m3 with one scale a row.

use std::sync::Arc;

use cudarc::driver::{
    CudaModule, CudaStream, CudaView, CudaViewMut, DevicePtr, DriverError, LaunchConfig, PushKernelArg,
};
use half::bf16;

/// Queues one launch of a kernel in `module` on `stream`.
///
/// `x` and `q` are row-major matrices of `rows` rows and `columns` columns; `weight` has one
/// element a column, `scale` one a row. A `u8` here has the bits of an e4m3 there. There may be no rows or no columns; nothing is
/// launched then.
pub fn rmsnorm_fp8(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    x: &CudaView<'_, bf16>,
    weight: &CudaView<'_, bf16>,
    q: &mut CudaViewMut<'_, u8>,
    scale: &mut CudaViewMut<'_, f32>,
    rows: usize,
    columns: usize,
) -> Result<(), DriverError> {
    // The longest row that a block keeps, in elements: 32 KiB, which every GPU has for a block without being asked.
    const LONGEST: usize = 16_384;

    if rows == 0 || columns == 0 {
        return Ok(());
    }
    // Sixteen elements for each thread, as whole warps: with fewer, the reductions would take as long as all the rest. With
    // more than 512 threads a multiprocessor would have room for too few blocks for one to load while another computes.
    let threads = columns.div_ceil(16).next_multiple_of(32).min(512);
    let pairs = columns.is_multiple_of(2)
        && [x, weight].iter().all(|view| view.device_ptr(stream).0 % 4 == 0)
        && q.device_ptr(stream).0 % 2 == 0;
    let (name, shared) = match pairs && columns <= LONGEST {
        true => ("rmsnorm_fp8", columns * size_of::<bf16>()),
        false => ("rmsnorm_fp8_long", 0),
    };
    let kernel = module.load_function(name)?;
    let config = LaunchConfig {
        // More blocks than a grid can have are refused by the driver.
        grid_dim: (u32::try_from(rows).unwrap_or(u32::MAX), 1, 1),
        block_dim: (threads as u32, 1, 1),
        shared_mem_bytes: shared as u32,
    };
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(x).arg(weight).arg(q).arg(scale).arg(&rows).arg(&columns);
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only the elements of `rows` rows
    // of `columns`, and of single rows, which the views have.
    unsafe { launch.launch(config) }?;
    Ok(())
}
