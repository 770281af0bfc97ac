use std::sync::Arc;

use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg};

pub(super) fn mul_add(
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
    let config = LaunchConfig { grid_dim: (n.div_ceil(256) as u32, 1, 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 };
    let (mul, add) = (module.load_function("mul")?, module.load_function("add")?);
    // SAFETY: the arguments are the kernels' parameters in their order.
    unsafe {
        stream.launch_builder(&mul).arg(q).arg(k).arg(&mut *out).arg(&n).launch(config)?;
        stream.launch_builder(&add).arg(v).arg(out).arg(&n).launch(config)?;
    }
    Ok(())
}
