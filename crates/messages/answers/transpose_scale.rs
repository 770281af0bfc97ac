//! The launch of `transpose_scale`.

use std::sync::Arc;

use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg};

pub fn transpose_scale(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    x: &CudaView<'_, f32>,
    out: &mut CudaViewMut<'_, f32>,
    s: f32,
    rows: usize,
    columns: usize,
) -> Result<(), DriverError> {
    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let kernel = module.load_function("transpose_scale")?;
    let config = LaunchConfig {
        grid_dim: (columns.div_ceil(32) as u32, rows.div_ceil(32) as u32, 1),
        block_dim: (32, 8, 1),
        shared_mem_bytes: 0,
    };
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(x).arg(out).arg(&s).arg(&rows).arg(&columns);
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only the elements of `rows` rows
    // of `columns`, which both views have.
    unsafe { launch.launch(config) }?;
    Ok(())
}
