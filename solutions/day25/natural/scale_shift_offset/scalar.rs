use std::sync::Arc;

use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg};

pub fn scale_shift_offset(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    x: &CudaView<'_, f32>,
    out: &mut CudaViewMut<'_, f32>,
    scale: f32,
    shift: f32,
) -> Result<(), DriverError> {
    let n = out.len();
    if n == 0 {
        return Ok(());
    }
    let blocks = n.div_ceil(256) as u32;
    let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 };
    let kernel = module.load_function("scale_shift_offset")?;
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(x).arg(out).arg(&scale).arg(&shift).arg(&n);
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only elements of the views.
    unsafe { launch.launch(config) }?;
    Ok(())
}
