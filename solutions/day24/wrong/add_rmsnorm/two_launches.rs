use std::sync::Arc;

use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg};
use half::bf16;

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
    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let threads = columns.div_ceil(16).next_multiple_of(32).min(1024) as u32;
    let config = LaunchConfig { grid_dim: (rows as u32, 1, 1), block_dim: (threads, 1, 1), shared_mem_bytes: 0 };
    let (add, normalize) = (module.load_function("add")?, module.load_function("normalize")?);
    let mut launch = stream.launch_builder(&add);
    launch.arg(x).arg(&mut *residual).arg(&rows).arg(&columns);
    // SAFETY: the arguments are the kernel's parameters in their order.
    unsafe { launch.launch(config) }?;
    let mut launch = stream.launch_builder(&normalize);
    launch.arg(weight).arg(residual).arg(out).arg(&rows).arg(&columns);
    // SAFETY: as above.
    unsafe { launch.launch(config) }?;
    Ok(())
}
