//! The launch of `softmax`: exp(x - largest of the row) / their sum over the row.

use std::sync::Arc;

// TODO(imports): the launch needs `LaunchConfig` and `PushKernelArg` as well.
use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError};
// END TODO

/// Queues one launch of a kernel in `module` on `stream`.
///
/// x and out hold `rows` rows of `columns` elements; either number may be 0.
pub fn softmax(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    x: &CudaView<'_, f32>,
    out: &mut CudaViewMut<'_, f32>,
    rows: usize,
    columns: usize,
) -> Result<(), DriverError> {
    // TODO(launch): launch the kernel.
    //   1. `module.load_function("softmax")?` gives the kernel.
    //   2. `stream.launch_builder(&kernel)` takes the arguments with `.arg(...)`, in the order of the
    //      kernel's parameters: `x`, `out`, `&rows`, `&columns` (a `usize` here is a `size_t` there).
    //   3. `.launch(config)` with a `LaunchConfig` of one block a row, and `shared_mem_bytes` for the row: four bytes
    //      a column. A short row leaves most of a large block without work: as many threads as have 16 elements each,
    //      as whole warps, and at most 512, so that several blocks fit on a multiprocessor:
    //      `columns.div_ceil(16).next_multiple_of(32).min(512)`. It is `unsafe`: nobody checks the arguments against
    //      the kernel's parameters but you. With one too few, or a `u32` for a `size_t`, the kernel reads nonsense.
    //   4. Without asking, a block gets at most 48 KiB of shared memory, and the longest rows here take over 64:
    //      `kernel.set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes)?` asks, with the attribute
    //      of `cudarc::driver::sys::CUfunction_attribute`.
    //      A GPU without room for the row answers with an error. On one with 64 KiB for a block, such as a T4, the
    //      longest rows need a second kernel, which reads its row again instead of keeping it.
    //   5. Nothing is to be launched where there are no rows or no columns: a grid of no blocks is an error.
    let _ = (stream, module, x, out, rows, columns);
    Ok(())
    // END TODO
}
