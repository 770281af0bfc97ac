//! The launch of `layernorm_wide_rows`: layernorm of long rows.

use std::sync::Arc;

// TODO(imports): the launch needs `LaunchConfig` and `PushKernelArg` as well.
use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError};
// END TODO

/// Queues one launch of a kernel in `module` on `stream`.
///
/// x and out hold `rows` rows of `columns` elements; either number may be 0. gamma and beta hold `columns` elements.
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
    // TODO(launch): launch the kernel.
    //   1. `module.load_function("layernorm_wide_rows")?` gives the kernel. Whether the GPU has clusters, says
    //      `stream.context().attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH)?`, with the attribute of
    //      `cudarc::driver::sys::CUdevice_attribute`: 1 or 0. Without them, and for rows of fewer than 4,096 or more than
    //      131,072 columns, take the other kernel, with one block per row.
    //   2. `stream.launch_builder(&kernel)` takes the arguments with `.arg(...)`, in the order of the
    //      kernel's parameters: `x`, `gamma`, `beta`, `out`, `&rows`, `&columns` (a `usize` here is a `size_t` there).
    //   3. `.launch(config)` with a `LaunchConfig` of eight blocks per row, and `shared_mem_bytes` for a block's part of
    //      it: four bytes per column. As many threads as have 16 elements of the part each, as whole warps, and at most
    //      512, so that several blocks fit on a multiprocessor:
    //      `columns.div_ceil(8).div_ceil(16).next_multiple_of(32).min(512)`. It is `unsafe`: nobody checks the arguments
    //      against the kernel's parameters but you. A kernel with `__cluster_dims__(8, 1, 1)` is launched like any other.
    //   4. Without asking, a block gets at most 48 KiB of shared memory, and the longest rows here take 64 per block:
    //      `kernel.set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes)?` asks, with the attribute
    //      of `cudarc::driver::sys::CUfunction_attribute`.
    //   5. Nothing is to be launched where there are no rows or no columns: a grid of no blocks is an error.
    let _ = (stream, module, x, gamma, beta, out, rows, columns);
    Ok(())
    // END TODO
}
