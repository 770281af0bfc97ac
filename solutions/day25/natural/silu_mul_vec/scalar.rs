use std::sync::Arc;

use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg};
use half::bf16;

pub fn silu_mul_vec(
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
    let blocks = n.div_ceil(256) as u32;
    let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 };
    let kernel = module.load_function("silu_mul_vec")?;
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(gate).arg(up).arg(out).arg(&n);
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only elements of the views.
    unsafe { launch.launch(config) }?;
    Ok(())
}
