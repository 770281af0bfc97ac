//! The launch of `rmsnorm_fp8`: RMSNorm, then e4m3 with one scale a row.

use std::sync::Arc;

// TODO(imports): the launch needs `LaunchConfig` and `PushKernelArg` as well.
use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError};
// END TODO
use half::bf16;

/// Queues one launch of a kernel in `module` on `stream`.
///
/// `x` and `q` are row-major matrices of `rows` rows and `columns` columns; `weight` has one
/// element a column, `scale` one a row. A `u8` here has the bits of an e4m3 there. There may be no rows or no columns; nothing is
/// launched then.
pub fn rmsnorm_fp8(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    x: &CudaView<'_, bf16>,
    weight: &CudaView<'_, bf16>,
    q: &mut CudaViewMut<'_, u8>,
    scale: &mut CudaViewMut<'_, f32>,
    rows: usize,
    columns: usize,
) -> Result<(), DriverError> {
    // TODO(launch): launch the kernel.
    //   1. A grid of no blocks is an error: when there are no rows or no columns, return at once.
    //   2. `module.load_function("rmsnorm_fp8")?` gives the kernel.
    //   3. `stream.launch_builder(&kernel)` takes the arguments with `.arg(...)`, in the order of the kernel's
    //      parameters: `x`, `weight`, `q`, `scale`, `&rows`, `&columns` (a `usize` here is a `size_t` there).
    //   4. `.launch(config)` with a `LaunchConfig` of one block a row, and `shared_mem_bytes` for the row: two bytes
    //      a column. A short row leaves most of a large block without work: as many threads as have 16 elements each,
    //      as whole warps, and at most 512, so that several blocks fit on a multiprocessor:
    //      `columns.div_ceil(16).next_multiple_of(32).min(512)`. It is `unsafe`: nobody checks the arguments against
    //      the kernel's parameters but you. With one too few, or a `u32` for a `size_t`, the kernel reads nonsense.
    //   5. Pairs need an even number of columns, `x` and `weight` at multiples of 4 bytes, `q` at one of 2:
    //      `x.device_ptr(stream).0` is an address, with `DevicePtr` of `cudarc::driver` imported. A block has 48 KiB of shared
    //      memory without asking, so rows up to 16,384 fit. All other rows go to `rmsnorm_fp8_long`, which needs none.
    let _ = (stream, module, x, weight, q, scale, rows, columns);
    Ok(())
    // END TODO
}
