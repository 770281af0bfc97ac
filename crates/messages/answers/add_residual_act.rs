//! The launch of `add_residual_act`.

use std::sync::Arc;

use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg};

pub fn add_residual_act(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    x: &CudaView<'_, f32>,
    residual: &CudaView<'_, f32>,
    out: &mut CudaViewMut<'_, f32>,
    act: i32,
) -> Result<(), DriverError> {
    let n = out.len();
    if n == 0 {
        return Ok(());
    }
    let name = match act {
        0 => "add_residual_relu",
        1 => "add_residual_gelu",
        _ => "add_residual_silu",
    };
    let kernel = module.load_function(name)?;
    let config = LaunchConfig { grid_dim: (n.div_ceil(256) as u32, 1, 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 };
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(x).arg(residual).arg(out).arg(&n);
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only the first `n` elements.
    unsafe { launch.launch(config) }?;
    Ok(())
}
