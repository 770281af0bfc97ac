//! The launch of `layernorm_wide_rows`.

use std::sync::Arc;

use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH;
use cudarc::driver::sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg};

#[expect(clippy::too_many_arguments, reason = "the exercise's signature")]
pub fn layernorm_wide_rows(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    x: &CudaView<'_, f32>,
    gamma: &CudaView<'_, f32>,
    beta: &CudaView<'_, f32>,
    out: &mut CudaViewMut<'_, f32>,
    rows: usize,
    columns: usize,
) -> Result<(), DriverError> {
    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let clusters = stream.context().attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH)? == 1;
    let kept = clusters && columns >= 4096 && columns <= 131_072;
    let (name, blocks) = if kept { ("layernorm_wide_rows", 8 * rows) } else { ("layernorm_wide_rows_long", rows) };
    let shared = if kept { columns.div_ceil(8) * size_of::<f32>() } else { 0 };
    let threads = columns.div_ceil(128).next_multiple_of(32).min(512);
    let kernel = module.load_function(name)?;
    kernel.set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared as i32)?;
    let config = LaunchConfig {
        grid_dim: (u32::try_from(blocks).unwrap_or(u32::MAX), 1, 1),
        block_dim: (threads as u32, 1, 1),
        shared_mem_bytes: shared as u32,
    };
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(x).arg(gamma).arg(beta).arg(out).arg(&rows).arg(&columns);
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only elements of the views.
    unsafe { launch.launch(config) }?;
    Ok(())
}
