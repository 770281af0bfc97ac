//! The launch of `l2norm`: x / (length of the row + 1e-12).

use std::sync::Arc;

// TODO(imports): the launch needs `LaunchConfig` and `PushKernelArg` as well.
use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError};
// END TODO

/// Queues one launch of a kernel in `module` on `stream`.
///
/// x and out hold `rows` rows of `columns` elements; either number may be 0.
pub fn l2norm(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    x: &CudaView<'_, f32>,
    out: &mut CudaViewMut<'_, f32>,
    rows: usize,
    columns: usize,
) -> Result<(), DriverError> {
    // TODO(launch): launch the kernel.
    //   1. `module.load_function("l2norm")?` gives the kernel.
    //   2. `stream.launch_builder(&kernel)` takes the arguments with `.arg(...)`, in the order of the
    //      kernel's parameters: `x`, `out`, `&rows`, `&columns` (a `usize` here is a `size_t` there).
    //   3. `.launch(config)` with a `LaunchConfig` of one block a row, of as many threads as the kernel
    //      counts on, such as 256. It is `unsafe`: nobody checks the arguments against the kernel's parameters but
    //      you. With one too few, or a `u32` for a `size_t`, the kernel reads nonsense.
    //   4. Nothing is to be launched where there are no rows or no columns: a grid of no blocks is an error.
    let _ = (stream, module, x, out, rows, columns);
    Ok(())
    // END TODO
}
