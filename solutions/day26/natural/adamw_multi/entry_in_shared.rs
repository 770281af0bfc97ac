use std::sync::Arc;

use cudarc::driver::{CudaModule, CudaStream, CudaView, DriverError, LaunchConfig, PushKernelArg};

#[allow(clippy::too_many_arguments)]
pub fn adamw_multi(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    tensors: &CudaView<'_, u64>,
    chunks: &CudaView<'_, i32>,
    lr: f32,
    beta1: f32,
    beta2: f32,
    epsilon: f32,
    weight_decay: f32,
    correction1: f32,
    correction2: f32,
) -> Result<(), DriverError> {
    let blocks = (chunks.len() / 2) as u32;
    if blocks == 0 {
        return Ok(());
    }
    let kernel = module.load_function("adamw_multi")?;
    let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 };
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(tensors).arg(chunks).arg(&lr).arg(&beta1).arg(&beta2).arg(&epsilon).arg(&weight_decay);
    launch.arg(&correction1).arg(&correction2);
    // SAFETY: the arguments are the kernel's parameters in their order, and the tables lead it to the tensors' elements only.
    unsafe { launch.launch(config) }?;
    Ok(())
}
