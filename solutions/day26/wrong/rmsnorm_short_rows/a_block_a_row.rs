use std::sync::Arc;

use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg};
use half::f16;

pub(super) fn rmsnorm_short_rows(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    x: &CudaView<'_, f16>,
    weight: &CudaView<'_, f16>,
    out: &mut CudaViewMut<'_, f16>,
    rows: usize,
    columns: usize,
) -> Result<(), DriverError> {
    if rows * columns == 0 {
        return Ok(());
    }
    let kernel = module.load_function("rmsnorm_short_rows")?;
    let config = LaunchConfig { grid_dim: (rows as u32, 1, 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 };
    // SAFETY: the arguments are the kernel's parameters in their order.
    unsafe { stream.launch_builder(&kernel).arg(x).arg(weight).arg(out).arg(&rows).arg(&columns).launch(config) }?;
    Ok(())
}
