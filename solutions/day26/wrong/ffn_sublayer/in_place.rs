use std::sync::Arc;

use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg};
use fusion_course::{Gemm, GemmSizes};
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
    let config = LaunchConfig { grid_dim: (rows as u32, 1, 1), block_dim: (128, 1, 1), shared_mem_bytes: 0 };
    let kernel = module.load_function("layernorm")?;
    // SAFETY: the arguments are the kernel's parameters in their order.
    unsafe { stream.launch_builder(&kernel).arg(x).arg(gamma).arg(beta).arg(&mut *normed).arg(&columns).launch(config) }?;
    let _ = &normed;
    gemm.multiply(stream, x, w, product, GemmSizes { m: rows, n: columns, k: columns })?;
    let kernel = module.load_function("epilogue")?;
    let (normed, product) = (normed.as_view(), product.as_view());
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(&product).arg(&normed).arg(bias).arg(x).arg(out).arg(&columns);
    // SAFETY: as above.
    unsafe { launch.launch(config) }?;
    Ok(())
}
