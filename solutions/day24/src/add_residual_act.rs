//! The launch of `add_residual_act`: act(x + residual).

use std::sync::Arc;

use cudarc::driver::{
    CudaModule, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg,
};

/// Queues one launch of the kernel that `act` names, 0 relu, 1 gelu, 2 silu, in `module` on `stream`.
///
/// The views have the same length, which may be 0.
pub fn add_residual_act(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    x: &CudaView<'_, f32>,
    residual: &CudaView<'_, f32>,
    out: &mut CudaViewMut<'_, f32>,
    act: i32,
) -> Result<(), DriverError> {
    const THREADS: u32 = 256;
    const ELEMENTS_A_THREAD: usize = 4;

    let n = out.len();
    if n == 0 {
        return Ok(());
    }
    let kernel = module.load_function(match act {
        0 => "add_residual_relu",
        1 => "add_residual_gelu",
        _ => "add_residual_silu",
    })?;
    let blocks = n.div_ceil(ELEMENTS_A_THREAD * THREADS as usize) as u32;
    let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 };
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only the first `n` elements,
    // which every view has.
    unsafe { stream.launch_builder(&kernel).arg(x).arg(residual).arg(out).arg(&n).launch(config) }?;
    Ok(())
}
