use std::sync::Arc;

use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg};

pub fn mul_add(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    q: &CudaView<'_, f32>,
    k: &CudaView<'_, f32>,
    v: &CudaView<'_, f32>,
    out: &mut CudaViewMut<'_, f32>,
) -> Result<(), DriverError> {
    let n = out.len();
    if n == 0 {
        return Ok(());
    }
    let blocks = n.div_ceil(2 * 256) as u32;
    let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 };
    let kernel = module.load_function("mul_add")?;
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(q).arg(k).arg(v).arg(out).arg(&n);
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only elements of the views.
    unsafe { launch.launch(config) }?;
    Ok(())
}
