//! The launch of `transpose_scale`: out[j, i] = s * x[i, j].

use std::sync::Arc;

// TODO(imports): the launch needs `LaunchConfig` and `PushKernelArg` as well.
use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError};
// END TODO

/// Queues one launch of a kernel in `module` on `stream`.
///
/// x holds `rows` rows of `columns` elements, and out holds `columns` rows of `rows`; either number may be 0.
pub fn transpose_scale(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    x: &CudaView<'_, f32>,
    out: &mut CudaViewMut<'_, f32>,
    s: f32,
    rows: usize,
    columns: usize,
) -> Result<(), DriverError> {
    // TODO(launch): launch the kernel.
    //   1. `module.load_function("transpose_scale")?` gives the kernel.
    //   2. `stream.launch_builder(&kernel)` takes the arguments with `.arg(...)`, in the order of the
    //      kernel's parameters: `x`, `out`, `&s`, `&rows`, `&columns` (a `usize` here is a `size_t` there).
    //   3. `.launch(config)` with a `LaunchConfig` of one block a tile: `grid_dim` has `rows.div_ceil(32)` blocks along x
    //      and `columns.div_ceil(32)` along y, `block_dim` is (32, 8, 1). Along x a grid may have 2^31 - 1 blocks, along
    //      y only 65,535: the side that may be longer is on x. The launch is `unsafe`: nobody checks the arguments
    //      against the kernel's parameters but you. With one too few, or a `u32` for a `size_t`, the kernel reads
    //      nonsense.
    //   4. Nothing is to be launched where there are no rows or no columns: a grid of no blocks is an error.
    let _ = (stream, module, x, out, s, rows, columns);
    Ok(())
    // END TODO
}
