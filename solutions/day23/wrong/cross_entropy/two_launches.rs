use std::sync::Arc;

use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg};

pub(super) fn cross_entropy(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    x: &CudaView<'_, f32>,
    labels: &CudaView<'_, i32>,
    loss: &mut CudaViewMut<'_, f32>,
    rows: usize,
    columns: usize,
) -> Result<(), DriverError> {
    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let config = LaunchConfig { grid_dim: (rows as u32, 1, 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 };
    let (one, two) = (module.load_function("largest_of_row")?, module.load_function("loss_of_row")?);
    // SAFETY: the arguments are the kernels' parameters in their order.
    unsafe {
        stream.launch_builder(&one).arg(x).arg(&mut *loss).arg(&columns).launch(config)?;
        stream.launch_builder(&two).arg(x).arg(labels).arg(loss).arg(&columns).launch(config)?;
    }
    Ok(())
}
