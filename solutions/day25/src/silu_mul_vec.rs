//! The launch of `silu_mul_vec`: silu(gate) * up in bf16.

use std::sync::Arc;

use cudarc::driver::{
    CudaModule, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg,
};
use half::bf16;

/// Queues one launch of the kernel `silu_mul_vec` in `module` on `stream`.
///
/// The views have the same length, which may be 0.
pub fn silu_mul_vec(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    gate: &CudaView<'_, bf16>,
    up: &CudaView<'_, bf16>,
    out: &mut CudaViewMut<'_, bf16>,
) -> Result<(), DriverError> {
    const THREADS: u32 = 256;
    const ELEMENTS_A_THREAD: usize = 8;

    let n = out.len();
    if n == 0 {
        return Ok(());
    }
    let kernel = module.load_function("silu_mul_vec")?;
    let blocks = n.div_ceil(ELEMENTS_A_THREAD * THREADS as usize) as u32;
    let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 };
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only the first `n` elements,
    // which every view has.
    unsafe { stream.launch_builder(&kernel).arg(gate).arg(up).arg(out).arg(&n).launch(config) }?;
    Ok(())
}
