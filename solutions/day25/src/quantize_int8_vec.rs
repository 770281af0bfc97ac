//! The launch of `quantize_int8_vec`: clamp(round(x / scale + zero_point), -128, 127).

use std::sync::Arc;

use cudarc::driver::{
    CudaModule, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg,
};

/// Queues one launch of the kernel `quantize_int8_vec` in `module` on `stream`.
///
/// The views have the same length, which may be 0.
pub fn quantize_int8_vec(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    x: &CudaView<'_, f32>,
    out: &mut CudaViewMut<'_, i8>,
    scale: f32,
    zero_point: f32,
) -> Result<(), DriverError> {
    const THREADS: u32 = 256;
    const ELEMENTS_A_THREAD: usize = 8;

    let n = out.len();
    if n == 0 {
        return Ok(());
    }
    let kernel = module.load_function("quantize_int8_vec")?;
    let blocks = n.div_ceil(ELEMENTS_A_THREAD * THREADS as usize) as u32;
    let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 };
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only the first `n` elements,
    // which every view has.
    unsafe { stream.launch_builder(&kernel).arg(x).arg(out).arg(&scale).arg(&zero_point).arg(&n).launch(config) }?;
    Ok(())
}
