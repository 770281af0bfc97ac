//! The launch of the top rung of `gemm_bias_gelu`'s ladder: d = gelu(a b + bias) + residual.

use std::sync::Arc;

use cudarc::driver::sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
use cudarc::driver::{
    CudaModule, CudaStream, CudaView, CudaViewMut, DevicePtr, DriverError, LaunchConfig, PushKernelArg,
};
use half::bf16;

/// Bytes of shared memory: four stages of 128 x 32 and 32 x 128 elements.
const STAGES: u32 = 4 * (128 * 32 + 32 * 128) * 2;

/// Queues one launch of a kernel in `module` on `stream`: of whole packs where all rows are made of them, of single elements otherwise.
#[allow(clippy::too_many_arguments)] // The operation has so many.
pub(super) fn gemm_bias_gelu(
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
    let aligned = |view: &CudaView<'_, bf16>| view.device_ptr(stream).0 % 16 == 0;
    let all = [a, b, bias, residual].into_iter().all(aligned) && d.device_ptr(stream).0 % 16 == 0;
    let packs = all && k.is_multiple_of(8) && n.is_multiple_of(8);
    let (name, edge, threads, shared_mem_bytes) =
        if packs { ("gemm_bias_gelu_stages", 128, 128, STAGES) } else { ("gemm_bias_gelu_any", 64, 256, 0) };
    let kernel = module.load_function(name)?;
    if packs {
        kernel.set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, STAGES as i32)?;
    }
    // More blocks than a grid can have are refused by the driver.
    let tiles = |length: usize| u32::try_from(length.div_ceil(edge)).unwrap_or(u32::MAX);
    let grid_dim = (tiles(m), tiles(n), 1);
    let config = LaunchConfig { grid_dim, block_dim: (threads, 1, 1), shared_mem_bytes };
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(a).arg(b).arg(bias).arg(residual).arg(d).arg(&m).arg(&n).arg(&k);
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only the elements that the sizes
    // say, which the views have.
    unsafe { launch.launch(config) }?;
    Ok(())
}
