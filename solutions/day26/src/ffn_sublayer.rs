//! The launches of `ffn_sublayer`: x + gelu(layernorm(x) W + bias).

use std::sync::Arc;

use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg};
use fusion_course::{Gemm, GemmSizes};
use half::f16;

/// Queues at most three launches on `stream`: of kernels in `module`, and of `gemm`.
///
/// `x`, `out` and the two lent buffers `normed` and `product` hold `rows` rows of `columns` elements; `w` holds `columns`
/// rows of as many; `gamma`, `beta` and `bias` hold `columns`.
#[allow(clippy::too_many_arguments)] // The operation has so many.
pub fn ffn_sublayer(
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
    const THREADS: u32 = 128;

    if rows == 0 || columns == 0 {
        return Ok(());
    }
    // One block per row, of both kernels. More blocks than a grid can have are refused by the driver.
    let blocks = u32::try_from(rows).unwrap_or(u32::MAX);
    let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 };

    let layernorm = module.load_function("layernorm")?;
    let mut launch = stream.launch_builder(&layernorm);
    launch.arg(x).arg(gamma).arg(beta).arg(&mut *normed).arg(&columns);
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only the rows and columns that
    // the views have.
    unsafe { launch.launch(config) }?;

    let sizes = GemmSizes { m: rows, n: columns, k: columns };
    gemm.multiply(stream, &normed.as_view(), w, product, sizes)?;

    let epilogue = module.load_function("epilogue")?;
    let product = product.as_view();
    let mut launch = stream.launch_builder(&epilogue);
    launch.arg(&product).arg(bias).arg(x).arg(out).arg(&columns);
    // SAFETY: as above.
    unsafe { launch.launch(config) }?;
    Ok(())
}
