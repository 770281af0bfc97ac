//! The launch of `gemm_dequant`: d = a (q scale).

use std::sync::Arc;

use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg};
use half::bf16;

/// Queues one launch of a kernel in `module` on `stream`.
///
/// `a` holds `m` rows of `k` elements, `q` holds `k` rows of `n`, `scale` holds `n` elements, `d` holds `m` rows of `n`; each of them may
/// be 0.
#[allow(clippy::too_many_arguments)] // The operation has so many.
pub fn gemm_dequant(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    a: &CudaView<'_, bf16>,
    q: &CudaView<'_, i8>,
    scale: &CudaView<'_, f32>,
    d: &mut CudaViewMut<'_, bf16>,
    m: usize,
    n: usize,
    k: usize,
) -> Result<(), DriverError> {
    if m == 0 || n == 0 {
        return Ok(());
    }
    let kernel = module.load_function("gemm_dequant")?;
    // More blocks than a grid can have are refused by the driver.
    let tiles = |length: usize, edge: usize| u32::try_from(length.div_ceil(edge)).unwrap_or(u32::MAX);
    // As many rows for a block as the kernel takes.
    let rows = [16, 32, 64][usize::from(m > 16) + usize::from(m > 32)];
    let config = LaunchConfig { grid_dim: (tiles(m, rows), tiles(n, 32), 1), block_dim: (512, 1, 1), shared_mem_bytes: 0 };
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(a).arg(q).arg(scale).arg(d).arg(&m).arg(&n).arg(&k);
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only the elements that the sizes
    // say, which the views have.
    unsafe { launch.launch(config) }?;
    Ok(())
}
