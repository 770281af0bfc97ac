use std::sync::Arc;

use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg};

pub(super) fn layernorm_quant(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    x: &CudaView<'_, f32>,
    gamma: &CudaView<'_, f32>,
    beta: &CudaView<'_, f32>,
    q: &mut CudaViewMut<'_, i8>,
    scale: &mut CudaViewMut<'_, f32>,
    rows: usize,
    columns: usize,
) -> Result<(), DriverError> {
    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let threads = columns.div_ceil(16).next_multiple_of(32).min(1024) as u32;
    let config = LaunchConfig { grid_dim: (rows as u32, 1, 1), block_dim: (threads, 1, 1), shared_mem_bytes: 0 };
    let kernel = module.load_function("layernorm_quant")?;
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(x).arg(gamma).arg(beta).arg(q).arg(scale).arg(&rows).arg(&columns);
    // SAFETY: the arguments are the kernel's parameters in their order.
    unsafe { launch.launch(config) }?;
    Ok(())
}
