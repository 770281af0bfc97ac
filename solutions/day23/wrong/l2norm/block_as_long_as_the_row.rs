use std::sync::Arc;

use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg};

pub(super) fn l2norm(
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
    let threads = columns.min(1024) as u32;
    let config = LaunchConfig { grid_dim: (rows as u32, 1, 1), block_dim: (threads, 1, 1), shared_mem_bytes: 0 };
    // SAFETY: the arguments are the kernel's parameters in their order.
    unsafe { stream.launch_builder(&kernel).arg(x).arg(out).arg(&columns).launch(config) }?;
    Ok(())
}
