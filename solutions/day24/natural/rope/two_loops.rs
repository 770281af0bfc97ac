use std::sync::Arc;

use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg};
use half::bf16;

pub fn rope(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    positions: &CudaView<'_, i32>,
    table: &CudaView<'_, f32>,
    q: &mut CudaViewMut<'_, bf16>,
    k: &mut CudaViewMut<'_, bf16>,
    pairing: i32,
    tokens: usize,
    q_heads: usize,
    k_heads: usize,
    head_dim: usize,
) -> Result<(), DriverError> {
    if tokens == 0 {
        return Ok(());
    }
    let kernel = module.load_function("rope")?;
    let config = LaunchConfig { grid_dim: (tokens as u32, 1, 1), block_dim: (1024, 1, 1), shared_mem_bytes: 0 };
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(positions).arg(table).arg(q).arg(k).arg(&pairing);
    launch.arg(&tokens).arg(&q_heads).arg(&k_heads).arg(&head_dim);
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only elements of the views.
    unsafe { launch.launch(config) }?;
    Ok(())
}
