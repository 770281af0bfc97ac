use std::sync::Arc;

use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg};
use fusion_course::Gemm;
use half::f16;

#[allow(clippy::too_many_arguments)]
pub(super) fn ffn_sublayer(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    gemm: &dyn Gemm,
    x: &CudaView<'_, f16>,
    gamma: &CudaView<'_, f16>,
    beta: &CudaView<'_, f16>,
    w: &CudaView<'_, f16>,
    bias: &CudaView<'_, f16>,
    normed: &mut CudaViewMut<'_, f16>,
    product: &mut CudaViewMut<'_, f16>,
    out: &mut CudaViewMut<'_, f16>,
    rows: usize,
    columns: usize,
) -> Result<(), DriverError> {
    if rows * columns == 0 {
        return Ok(());
    }
    let _ = (gemm, normed, product);
    let config = LaunchConfig { grid_dim: (columns.div_ceil(64) as u32, rows.div_ceil(64) as u32, 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 };
    let kernel = module.load_function("ffn_sublayer")?;
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(x).arg(gamma).arg(beta).arg(w).arg(bias).arg(out).arg(&rows).arg(&columns);
    // SAFETY: the arguments are the kernel's parameters in their order.
    unsafe { launch.launch(config) }?;
    Ok(())
}
