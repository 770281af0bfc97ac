//! The launch of the top rung of `gemm_tile`'s ladder: c = a b.

use std::sync::Arc;

use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
use cudarc::driver::sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
use cudarc::driver::sys::{self, CUtensorMap};
use cudarc::driver::{
    CudaModule, CudaStream, CudaView, CudaViewMut, DevicePtr, DevicePtrMut, DeviceRepr, DriverError, LaunchConfig, PushKernelArg,
};
use half::bf16;

/// Bytes of the kernel's `Shared`: four stages of 128 x 64 and 64 x 256 elements, four boxes, eight barriers.
const SHARED: u32 = 4 * (128 * 64 + 64 * 256) * 2 + 4 * 64 * 64 * 2 + 8 * 8;

/// Queues one launch of a kernel in `module` on `stream`: one that copies boxes where the GPU and the matrices allow it, or one that
/// goes element by element.
#[allow(clippy::too_many_arguments)] // The operation has so many.
pub(super) fn gemm_tile(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    a: &CudaView<'_, bf16>,
    b: &CudaView<'_, bf16>,
    c: &mut CudaViewMut<'_, bf16>,
    m: usize,
    n: usize,
    k: usize,
) -> Result<(), DriverError> {
    if m == 0 || n == 0 {
        return Ok(());
    }
    let addresses = [a.device_ptr(stream).0, b.device_ptr(stream).0, c.device_ptr(stream).0];
    let shapes = [[m, k], [k, n], [m, n]];
    // The instructions are those of compute capability 9.0, and of no other.
    let boxes = stream.context().compute_capability()? == (9, 0)
        && addresses.iter().zip(shapes).all(|(&address, shape)| has_boxes(address, shape));
    if boxes { by_boxes(stream, module, a, b, c, shapes) } else { by_elements(stream, module, a, b, c, [m, n, k]) }
}

/// A block on each multiprocessor goes from tile to tile.
fn by_boxes(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    a: &CudaView<'_, bf16>,
    b: &CudaView<'_, bf16>,
    c: &mut CudaViewMut<'_, bf16>,
    [of_a, of_b, of_c]: [[usize; 2]; 3],
) -> Result<(), DriverError> {
    let kernel = module.load_function("gemm_tile_wgmma")?;
    kernel.set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, SHARED as i32)?;
    // The views are in use, as cudarc tells other streams, until these guards are dropped.
    let ((a, _a), (b, _b), (c, _c)) = (a.device_ptr(stream), b.device_ptr(stream), c.device_ptr_mut(stream));
    let (a, b, c) = (Boxes::new(a, of_a)?, Boxes::new(b, of_b)?, Boxes::new(c, of_c)?);
    let ([m, n], k) = (of_c, of_a[1]);
    let multiprocessors = stream.context().attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
    let blocks = m.div_ceil(128).saturating_mul(n.div_ceil(256)).min(multiprocessors as usize) as u32;
    let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (384, 1, 1), shared_mem_bytes: SHARED };
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(&a).arg(&b).arg(&c).arg(&m).arg(&n).arg(&k);
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only the elements of the three
    // matrices, which the views have.
    unsafe { launch.launch(config) }?;
    Ok(())
}

/// A block has 64 x 64 elements of c.
fn by_elements(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    a: &CudaView<'_, bf16>,
    b: &CudaView<'_, bf16>,
    c: &mut CudaViewMut<'_, bf16>,
    [m, n, k]: [usize; 3],
) -> Result<(), DriverError> {
    let kernel = module.load_function("gemm_tile_any")?;
    // More blocks than a grid can have are refused by the driver.
    let tiles = |length: usize| u32::try_from(length.div_ceil(64)).unwrap_or(u32::MAX);
    let config = LaunchConfig { grid_dim: (tiles(m), tiles(n), 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 };
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(a).arg(b).arg(c).arg(&m).arg(&n).arg(&k);
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only the elements that the sizes
    // say, which the views have.
    unsafe { launch.launch(config) }?;
    Ok(())
}

/// Whether a matrix of so many rows and columns has boxes that can be copied: rows that begin at multiples of 16 bytes, an
/// element, and no more of either than a copy's coordinates count, which are of 32 bits with a sign.
pub(super) fn has_boxes(address: u64, [rows, columns]: [usize; 2]) -> bool {
    let counted = |length: usize| length > 0 && i32::try_from(length).is_ok();
    address.is_multiple_of(16) && columns.is_multiple_of(8) && counted(rows) && counted(columns)
}

/// A matrix as boxes of 64 x 64 elements, swizzled by 128 bytes: the kernel's `TensorMap`.
#[repr(transparent)]
pub(super) struct Boxes(CUtensorMap);

// SAFETY: 128 plain bytes, which a kernel takes by value.
unsafe impl DeviceRepr for Boxes {}

impl Boxes {
    /// Of a matrix at an address, of so many rows and columns, whose rows lie one behind the other.
    pub(super) fn new(address: u64, [rows, columns]: [usize; 2]) -> Result<Self, DriverError> {
        let (sizes, row_bytes) = ([columns as u64, rows as u64], [2 * columns as u64]);
        let (edges, every) = ([64, 64], [1, 1]);
        let mut map = CUtensorMap { opaque: [0; 16] };
        // SAFETY: each list has an entry for each of two dimensions, that of distances one less, and the driver fills the map.
        let made = unsafe {
            sys::cuTensorMapEncodeTiled(
                &raw mut map,
                sys::CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                2,
                address as *mut _,
                sizes.as_ptr(),
                row_bytes.as_ptr(),
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
