//! The launch of `l2norm`.

use std::sync::Arc;

use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg};

pub fn l2norm(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    x: &CudaView<'_, f32>,
    out: &mut CudaViewMut<'_, f32>,
    rows: usize,
    columns: usize,
) -> Result<(), DriverError> {
    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let kernel = module.load_function("l2norm")?;
    let config = LaunchConfig { grid_dim: (rows as u32, 1, 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 };
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(x).arg(out).arg(&rows).arg(&columns);
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only `rows` rows.
    unsafe { launch.launch(config) }?;
    Ok(())
}
