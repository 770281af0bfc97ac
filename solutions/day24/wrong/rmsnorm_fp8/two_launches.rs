use std::sync::Arc;

use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg};
use half::bf16;

pub(super) fn rmsnorm_fp8(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    x: &CudaView<'_, bf16>,
    weight: &CudaView<'_, bf16>,
    q: &mut CudaViewMut<'_, u8>,
    scale: &mut CudaViewMut<'_, f32>,
    rows: usize,
    columns: usize,
) -> Result<(), DriverError> {
    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let threads = columns.div_ceil(16).next_multiple_of(32).min(1024) as u32;
    let config = LaunchConfig { grid_dim: (rows as u32, 1, 1), block_dim: (threads, 1, 1), shared_mem_bytes: 0 };
    let (scales, quantize) = (module.load_function("scales")?, module.load_function("quantize")?);
    let mut launch = stream.launch_builder(&scales);
    launch.arg(x).arg(weight).arg(&mut *scale).arg(&rows).arg(&columns);
    // SAFETY: the arguments are the kernel's parameters in their order.
    unsafe { launch.launch(config) }?;
    let mut launch = stream.launch_builder(&quantize);
    launch.arg(x).arg(weight).arg(scale).arg(q).arg(&rows).arg(&columns);
    // SAFETY: as above.
    unsafe { launch.launch(config) }?;
    Ok(())
}
