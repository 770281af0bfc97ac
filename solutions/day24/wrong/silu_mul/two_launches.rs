use std::sync::Arc;

use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg};
use half::bf16;

pub(super) fn silu_mul(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    gate: &CudaView<'_, bf16>,
    up: &CudaView<'_, bf16>,
    out: &mut CudaViewMut<'_, bf16>,
) -> Result<(), DriverError> {
    let n = out.len();
    if n == 0 {
        return Ok(());
    }
    let config = LaunchConfig { grid_dim: (n.div_ceil(256) as u32, 1, 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 };
    let (activate, multiply) = (module.load_function("activate")?, module.load_function("multiply")?);
    // SAFETY: the arguments are the kernels' parameters in their order.
    unsafe {
        stream.launch_builder(&activate).arg(gate).arg(&mut *out).arg(&n).launch(config)?;
        stream.launch_builder(&multiply).arg(gate).arg(up).arg(out).arg(&n).launch(config)?;
    }
    Ok(())
}
