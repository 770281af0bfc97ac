//! The launch of the top rung of `flash_attention_causal`: out = softmax(mask(q k^T / sqrt(d))) v for each head.

use std::sync::Arc;

use cudarc::driver::sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
use cudarc::driver::{
    CudaModule, CudaStream, CudaView, CudaViewMut, DevicePtr, DevicePtrMut, DriverError, LaunchConfig, PushKernelArg,
};
use half::bf16;

use super::flash_attention::{Boxes, KEYS, has_boxes, shared_bytes};

/// Queues one launch of a kernel in `module` on `stream`: one that copies boxes where the GPU and the views allow it, or one that
/// goes key by key.
///
/// `q` and `out` hold `heads` heads of `length` rows of `head_dim` elements, which is 64 or 128. `k` and `v` hold `kv_heads` heads
/// of as many, and `heads` is a multiple of `kv_heads`. The other numbers may be 0.
#[allow(clippy::too_many_arguments)] // The operation has so many.
pub(super) fn flash_attention_causal(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    q: &CudaView<'_, bf16>,
    k: &CudaView<'_, bf16>,
    v: &CudaView<'_, bf16>,
    out: &mut CudaViewMut<'_, bf16>,
    heads: usize,
    kv_heads: usize,
    length: usize,
    head_dim: usize,
) -> Result<(), DriverError> {
    if heads == 0 || length == 0 {
        return Ok(());
    }
    if !has_boxes(stream, &[q, k, v], out, [heads, length])? {
        // A warp has a query. More blocks than a grid can have are refused by the driver.
        let kernel = module.load_function("flash_attention_causal_any")?;
        let blocks = u32::try_from((heads * length).div_ceil(4)).unwrap_or(u32::MAX);
        let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (128, 1, 1), shared_mem_bytes: 0 };
        let mut launch = stream.launch_builder(&kernel);
        launch.arg(q).arg(k).arg(v).arg(out).arg(&heads).arg(&kv_heads).arg(&length).arg(&head_dim);
        // SAFETY: the arguments are the kernel's parameters in their order, and it touches only the elements that the sizes
        // say, which the views have.
        unsafe { launch.launch(config) }?;
        return Ok(());
    }
    // A block has 64 queries for each of its warp groups but the first, which copies.
    let name = if head_dim == 64 { "flash_attention_causal_64" } else { "flash_attention_causal_128" };
    let kernel = module.load_function(name)?;
    let shared = shared_bytes(2, head_dim);
    kernel.set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared as i32)?;
    // The views are in use, as cudarc tells other streams, until these guards are dropped.
    let ((q, _q), (k, _k), (v, _v)) = (q.device_ptr(stream), k.device_ptr(stream), v.device_ptr(stream));
    let (out, _out) = out.device_ptr_mut(stream);
    let (of_queries, of_keys) = ([heads, length, head_dim], [kv_heads, length, head_dim]);
    let (q, out) = (Boxes::new(q, of_queries, 64)?, Boxes::new(out, of_queries, 64)?);
    let (k, v) = (Boxes::new(k, of_keys, KEYS)?, Boxes::new(v, of_keys, KEYS)?);
    let blocks = u32::try_from(heads * length.div_ceil(KEYS as usize)).unwrap_or(u32::MAX);
    let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (384, 1, 1), shared_mem_bytes: shared };
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(&q).arg(&k).arg(&v).arg(&out).arg(&heads).arg(&kv_heads).arg(&length);
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only the elements that the tensor
    // maps say, which the views have.
    unsafe { launch.launch(config) }?;
    Ok(())
}
