//! The launch of one kernel for all rows.

use std::sync::Arc;

use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg};
use half::bf16;

/// Queues one launch of a kernel in `module` on `stream`.
///
/// `a` holds `m` rows of `k` elements, `b` holds `k` rows of `n`, `bias` holds `n` elements, `residual` and `d` hold `m` rows of `n`;
/// each of them may be 0.
#[allow(clippy::too_many_arguments)] // The operation has so many.
pub fn gemm_bias_gelu(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    a: &CudaView<'_, bf16>,
    b: &CudaView<'_, bf16>,
    bias: &CudaView<'_, bf16>,
    residual: &CudaView<'_, bf16>,
    d: &mut CudaViewMut<'_, bf16>,
    m: usize,
    n: usize,
    k: usize,
) -> Result<(), DriverError> {
    if m == 0 || n == 0 {
        return Ok(());
    }
    let kernel = module.load_function("gemm_bias_gelu")?;
    // More blocks than a grid can have are refused by the driver.
    let tiles = |length: usize| u32::try_from(length.div_ceil(128)).unwrap_or(u32::MAX);
    let config = LaunchConfig { grid_dim: (tiles(m), tiles(n), 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 };
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(a).arg(b).arg(bias).arg(residual).arg(d).arg(&m).arg(&n).arg(&k);
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only the elements that the sizes
    // say, which the views have.
    unsafe { launch.launch(config) }?;
    Ok(())
}
