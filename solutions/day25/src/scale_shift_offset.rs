//! The launch of `scale_shift_offset`: x * scale + shift of views that begin anywhere.

use std::sync::Arc;

use cudarc::driver::{
    CudaModule, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg,
};

/// Queues one launch of the kernel `scale_shift_offset` in `module` on `stream`.
///
/// The views have the same length, which may be 0.
pub fn scale_shift_offset(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    x: &CudaView<'_, f32>,
    out: &mut CudaViewMut<'_, f32>,
    scale: f32,
    shift: f32,
) -> Result<(), DriverError> {
    const THREADS: u32 = 256;
    const ELEMENTS_A_THREAD: usize = 4;

    let n = out.len();
    if n == 0 {
        return Ok(());
    }
    let kernel = module.load_function("scale_shift_offset")?;
    let blocks = n.div_ceil(ELEMENTS_A_THREAD * THREADS as usize) as u32;
    let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 };
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only the first `n` elements,
    // which every view has.
    unsafe { stream.launch_builder(&kernel).arg(x).arg(out).arg(&scale).arg(&shift).arg(&n).launch(config) }?;
    Ok(())
}
