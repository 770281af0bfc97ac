//! rmsnorm_fp8, one block per row.

use std::sync::Arc;

use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg};
use half::bf16;

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
    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let kernel = module.load_function("rmsnorm_fp8")?;
    let threads = columns.div_ceil(16).next_multiple_of(32).min(512) as u32;
    let config = LaunchConfig { grid_dim: (rows as u32, 1, 1), block_dim: (threads, 1, 1), shared_mem_bytes: 0 };
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(x).arg(weight).arg(q).arg(scale).arg(&rows).arg(&columns);
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only `rows` rows.
    unsafe { launch.launch(config) }?;
    Ok(())
}
