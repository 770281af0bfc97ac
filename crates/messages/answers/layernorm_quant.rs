//! The launch of `layernorm_quant`.

use std::sync::Arc;

use cudarc::driver::sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg};

#[expect(clippy::too_many_arguments, reason = "the exercise's signature")]
pub fn layernorm_quant(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    x: &CudaView<'_, f32>,
    gamma: &CudaView<'_, f32>,
    beta: &CudaView<'_, f32>,
    q: &mut CudaViewMut<'_, i8>,
    scale: &mut CudaViewMut<'_, f32>,
    rows: usize,
    columns: usize,
) -> Result<(), DriverError> {
    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let kernel = module.load_function("layernorm_quant")?;
    let shared = columns * size_of::<f32>();
    kernel.set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared as i32)?;
    let config = LaunchConfig {
        grid_dim: (rows as u32, 1, 1),
        block_dim: (columns.div_ceil(16).next_multiple_of(32).min(512) as u32, 1, 1),
        shared_mem_bytes: shared as u32,
    };
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(x).arg(gamma).arg(beta).arg(q).arg(scale).arg(&rows).arg(&columns);
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only `rows` rows.
    unsafe { launch.launch(config) }?;
    Ok(())
}
