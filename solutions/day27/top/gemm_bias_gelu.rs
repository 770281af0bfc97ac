//! The launch of the top rung of `gemm_bias_gelu`'s ladder: d = gelu(a b + bias) + residual.

use std::sync::Arc;

use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
use cudarc::driver::sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
use cudarc::driver::{
    CudaModule, CudaStream, CudaView, CudaViewMut, DevicePtr, DevicePtrMut, DriverError, LaunchConfig, PushKernelArg,
};
use half::bf16;

use super::gemm_tile::{Boxes, has_boxes};

/// Bytes of the kernel's `Ring`: four stages of 128 x 64 and 64 x 256 elements, eight barriers.
const SHARED: u32 = 4 * (128 * 64 + 64 * 256) * 2 + 8 * 8;

/// Queues one launch of a kernel in `module` on `stream`: one that copies boxes where the GPU and the matrices allow it, or one that
/// goes element by element.
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
    let at = |view: &CudaView<'_, bf16>| view.device_ptr(stream).0;
    // The instructions are those of compute capability 9.0, and of no other. The bias is read by pairs.
    let boxes = stream.context().compute_capability()? == (9, 0)
        && [(at(a), [m, k]), (at(b), [k, n]), (at(residual), [m, n]), (d.device_ptr(stream).0, [m, n])]
            .into_iter()
            .all(|(address, shape)| has_boxes(address, shape))
        && at(bias).is_multiple_of(4);
    if !boxes {
        let kernel = module.load_function("gemm_bias_gelu_any")?;
        // A block has 64 x 64 elements of d. More blocks than a grid can have are refused by the driver.
        let tiles = |length: usize| u32::try_from(length.div_ceil(64)).unwrap_or(u32::MAX);
        let config = LaunchConfig { grid_dim: (tiles(m), tiles(n), 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 };
        let mut launch = stream.launch_builder(&kernel);
        launch.arg(a).arg(b).arg(bias).arg(residual).arg(d).arg(&m).arg(&n).arg(&k);
        // SAFETY: the arguments are the kernel's parameters in their order, and it touches only the elements that the sizes
        // say, which the views have.
        unsafe { launch.launch(config) }?;
        return Ok(());
    }
    let kernel = module.load_function("gemm_bias_gelu_wgmma")?;
    kernel.set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, SHARED as i32)?;
    // The views are in use, as cudarc tells other streams, until these guards are dropped.
    let ((a, _a), (b, _b)) = (a.device_ptr(stream), b.device_ptr(stream));
    let ((residual, _residual), (d, _d)) = (residual.device_ptr(stream), d.device_ptr_mut(stream));
    let (a, b) = (Boxes::new(a, [m, k])?, Boxes::new(b, [k, n])?);
    let (residual, d) = (Boxes::new(residual, [m, n])?, Boxes::new(d, [m, n])?);
    // A block on each multiprocessor goes from tile to tile.
    let multiprocessors = stream.context().attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
    let blocks = m.div_ceil(128).saturating_mul(n.div_ceil(256)).min(multiprocessors as usize) as u32;
    let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (384, 1, 1), shared_mem_bytes: SHARED };
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(&a).arg(&b).arg(bias).arg(&residual).arg(&d).arg(&m).arg(&n).arg(&k);
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only the elements of the
    // matrices and of the bias, which the views have.
    unsafe { launch.launch(config) }?;
    Ok(())
}
