//! The launch of `add_rmsnorm`: residual += x, and its RMSNorm.

use std::sync::Arc;

// TODO(imports): the launch needs `LaunchConfig` and `PushKernelArg` as well.
use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError};
// END TODO
use half::bf16;

/// Queues one launch of a kernel in `module` on `stream`.
///
/// `x`, `residual` and `out` are row-major matrices of `rows` rows and `columns` columns; `weight` has one
/// element a column. There may be no rows or no columns; nothing is launched then.
pub fn add_rmsnorm(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    x: &CudaView<'_, bf16>,
    weight: &CudaView<'_, bf16>,
    residual: &mut CudaViewMut<'_, bf16>,
    out: &mut CudaViewMut<'_, bf16>,
    rows: usize,
    columns: usize,
) -> Result<(), DriverError> {
    // TODO(launch): launch the kernel.
    //   1. A grid of no blocks is an error: when there are no rows or no columns, return at once.
    //   2. `module.load_function("add_rmsnorm")?` gives the kernel.
    //   3. `stream.launch_builder(&kernel)` takes the arguments with `.arg(...)`, in the order of the kernel's
    //      parameters: `x`, `weight`, `residual`, `out`, `&rows`, `&columns` (a `usize` here is a `size_t` there).
    //   4. `.launch(config)` with a `LaunchConfig` of one block a row, and `shared_mem_bytes` for the row: four bytes
    //      a column. A short row leaves most of a large block without work: as many threads as have 16 elements each,
    //      as whole warps, and at most 512, so that several blocks fit on a multiprocessor:
    //      `columns.div_ceil(16).next_multiple_of(32).min(512)`. It is `unsafe`: nobody checks the arguments against
    //      the kernel's parameters but you. With one too few, or a `u32` for a `size_t`, the kernel reads nonsense.
    //   5. Without asking, a block gets at most 48 KiB of shared memory, and the longest rows here take over 64:
    //      `kernel.set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes)?` asks, with the attribute
    //      of `cudarc::driver::sys::CUfunction_attribute`.
    //      A GPU without room for the row answers with an error. On one with 64 KiB for a block, such as a T4, the
    //      longest rows need a second kernel, which reads its row again instead of keeping it.
    let _ = (stream, module, x, weight, residual, out, rows, columns);
    Ok(())
    // END TODO
}
