use std::sync::Arc;

use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg};

pub(super) fn add_mul_relu(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    a: &CudaView<'_, f32>,
    b: &CudaView<'_, f32>,
    out: &mut CudaViewMut<'_, f32>,
) -> Result<(), DriverError> {
    let n = out.len();
    if n == 0 {
        return Ok(());
    }
    let config = LaunchConfig { grid_dim: (n.div_ceil(256) as u32, 1, 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 };
    let [add, mul, relu] = ["add", "mul", "relu"].map(|name| module.load_function(name));
    let (add, mul, relu) = (add?, mul?, relu?);
    // SAFETY: the arguments are the kernels' parameters in their order.
    unsafe {
        stream.launch_builder(&add).arg(a).arg(b).arg(&mut *out).arg(&n).launch(config)?;
        stream.launch_builder(&mul).arg(a).arg(&mut *out).arg(&n).launch(config)?;
        stream.launch_builder(&relu).arg(out).arg(&n).launch(config)?;
    }
    Ok(())
}
