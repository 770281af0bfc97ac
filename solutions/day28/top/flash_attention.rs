//! The launch of the top rung of `flash_attention`: out = softmax(q k^T / sqrt(d)) v for each head.

use std::sync::Arc;

use cudarc::driver::sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
use cudarc::driver::sys::{self, CUtensorMap};
use cudarc::driver::{
    CudaModule, CudaStream, CudaView, CudaViewMut, DevicePtr, DevicePtrMut, DeviceRepr, DriverError, LaunchConfig, PushKernelArg,
};
use half::bf16;

/// Keys that a block multiplies at a time.
pub(super) const KEYS: u32 = 128;

/// Bytes of the kernel's `Shared`: queries of so many groups, two stages of keys and of values, nine barriers.
pub(super) const fn shared_bytes(groups: u32, head_dim: usize) -> u32 {
    (groups * 64 + 2 * 2 * KEYS) * head_dim as u32 * 2 + 9 * 8
}

/// Whether copies of boxes can have these views: the instructions are those of compute capability 9.0, and of no other. Rows
/// are whole packs of 16 bytes. A copy's coordinates are of 32 bits with a sign.
pub(super) fn has_boxes(
    stream: &CudaStream,
    views: &[&CudaView<'_, bf16>],
    out: &CudaViewMut<'_, bf16>,
    lengths: [usize; 2],
) -> Result<bool, DriverError> {
    let aligned = |address: u64| address.is_multiple_of(16);
    let views = views.iter().all(|view| aligned(view.device_ptr(stream).0)) && aligned(out.device_ptr(stream).0);
    let counted = lengths.iter().all(|&length| i32::try_from(length).is_ok());
    Ok(views && counted && stream.context().compute_capability()? == (9, 0))
}

/// Queues one launch of a kernel in `module` on `stream`: one that copies boxes where the GPU and the views allow it, or one that
/// goes key by key.
///
/// `q`, `k`, `v` and `out` hold `heads` heads of `length` rows of `head_dim` elements, which is 64 or 128; the other numbers may be 0.
#[allow(clippy::too_many_arguments)] // The operation has so many.
pub(super) fn flash_attention(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    q: &CudaView<'_, bf16>,
    k: &CudaView<'_, bf16>,
    v: &CudaView<'_, bf16>,
    out: &mut CudaViewMut<'_, bf16>,
    heads: usize,
    length: usize,
    head_dim: usize,
) -> Result<(), DriverError> {
    if heads == 0 || length == 0 {
        return Ok(());
    }
    let boxes = has_boxes(stream, &[q, k, v], out, [heads, length])?;
    if boxes {
        by_boxes(stream, module, q, k, v, out, [heads, length, head_dim])
    } else {
        by_keys(stream, module, q, k, v, out, [heads, length, head_dim])
    }
}

/// A block has 64 queries for each of its warp groups but the first, which copies.
fn by_boxes(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    q: &CudaView<'_, bf16>,
    k: &CudaView<'_, bf16>,
    v: &CudaView<'_, bf16>,
    out: &mut CudaViewMut<'_, bf16>,
    shape @ [heads, length, head_dim]: [usize; 3],
) -> Result<(), DriverError> {
    let (name, groups) = if head_dim == 64 { ("flash_attention_64", 3) } else { ("flash_attention_128", 2) };
    let shared = shared_bytes(groups, head_dim);
    let kernel = module.load_function(name)?;
    kernel.set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared as i32)?;
    // The views are in use, as cudarc tells other streams, until these guards are dropped.
    let ((q, _q), (k, _k), (v, _v)) = (q.device_ptr(stream), k.device_ptr(stream), v.device_ptr(stream));
    let (out, _out) = out.device_ptr_mut(stream);
    let (q, out) = (Boxes::new(q, shape, 64)?, Boxes::new(out, shape, 64)?);
    let (k, v) = (Boxes::new(k, shape, KEYS)?, Boxes::new(v, shape, KEYS)?);
    // More blocks than a grid can have are refused by the driver.
    let blocks = u32::try_from(heads * length.div_ceil(64 * groups as usize)).unwrap_or(u32::MAX);
    let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (128 * (groups + 1), 1, 1), shared_mem_bytes: shared };
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(&q).arg(&k).arg(&v).arg(&out).arg(&length);
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only the elements that the tensor
    // maps say, which the views have.
    unsafe { launch.launch(config) }?;
    Ok(())
}

/// A warp has a query.
fn by_keys(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    q: &CudaView<'_, bf16>,
    k: &CudaView<'_, bf16>,
    v: &CudaView<'_, bf16>,
    out: &mut CudaViewMut<'_, bf16>,
    [heads, length, head_dim]: [usize; 3],
) -> Result<(), DriverError> {
    let kernel = module.load_function("flash_attention_any")?;
    let blocks = u32::try_from((heads * length).div_ceil(4)).unwrap_or(u32::MAX);
    let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (128, 1, 1), shared_mem_bytes: 0 };
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(q).arg(k).arg(v).arg(out).arg(&heads).arg(&length).arg(&head_dim);
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only the elements that the sizes
    // say, which the views have.
    unsafe { launch.launch(config) }?;
    Ok(())
}

/// Heads as boxes of so many rows of 64 elements, swizzled by 128 bytes: the kernel's `TensorMap`.
#[repr(transparent)]
pub(super) struct Boxes(CUtensorMap);

// SAFETY: 128 plain bytes, which a kernel takes by value.
unsafe impl DeviceRepr for Boxes {}

impl Boxes {
    /// Of heads at an address. The heads are a dimension of their own, so that a box ends with its head.
    pub(super) fn new(address: u64, [heads, length, head_dim]: [usize; 3], rows: u32) -> Result<Self, DriverError> {
        let sizes = [head_dim as u64, length as u64, heads as u64];
        let (row_bytes, head_bytes) = (2 * head_dim as u64, 2 * (head_dim * length) as u64);
        let (distances, edges, every) = ([row_bytes, head_bytes], [64, rows, 1], [1, 1, 1]);
        let mut map = CUtensorMap { opaque: [0; 16] };
        // SAFETY: each list has an entry for each of three dimensions, that of distances one less, and the driver fills the map.
        let made = unsafe {
            sys::cuTensorMapEncodeTiled(
                &raw mut map,
                sys::CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                3,
                address as *mut _,
                sizes.as_ptr(),
                distances.as_ptr(),
                edges.as_ptr(),
                every.as_ptr(),
                sys::CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
                sys::CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_128B,
                sys::CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                sys::CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
            )
        };
        made.result()?;
        Ok(Self(map))
    }
}
