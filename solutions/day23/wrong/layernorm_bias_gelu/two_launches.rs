use std::sync::Arc;

use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg};

#[allow(clippy::too_many_arguments)]
pub(super) fn layernorm_bias_gelu(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    x: &CudaView<'_, f32>,
    gamma: &CudaView<'_, f32>,
    beta: &CudaView<'_, f32>,
    bias: &CudaView<'_, f32>,
    out: &mut CudaViewMut<'_, f32>,
    rows: usize,
    columns: usize,
) -> Result<(), DriverError> {
    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let config = LaunchConfig { grid_dim: (rows as u32, 1, 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 };
    let (one, two) = (module.load_function("layernorm")?, module.load_function("bias_gelu")?);
    // SAFETY: the arguments are the kernels' parameters in their order.
    unsafe {
        stream.launch_builder(&one).arg(x).arg(gamma).arg(beta).arg(&mut *out).arg(&columns).launch(config)?;
        stream.launch_builder(&two).arg(bias).arg(out).arg(&columns).launch(config)?;
    }
    Ok(())
}
