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
    let kernel = module.load_function("turn")?;
    let config = LaunchConfig { grid_dim: (tokens as u32, 1, 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 };
    let mut queries = stream.launch_builder(&kernel);
    queries.arg(positions).arg(table).arg(q).arg(&pairing).arg(&q_heads).arg(&head_dim);
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only elements of the views.
    unsafe { queries.launch(config) }?;
    let mut keys = stream.launch_builder(&kernel);
    keys.arg(positions).arg(table).arg(k).arg(&pairing).arg(&k_heads).arg(&head_dim);
    // SAFETY: as above.
    unsafe { keys.launch(config) }?;
    Ok(())
}
