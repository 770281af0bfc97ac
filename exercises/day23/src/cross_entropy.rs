//! The launch of `cross_entropy`: log(sum of exp(x)) - x[label], row by row.

use std::sync::Arc;

// TODO(imports): the launch needs `LaunchConfig` and `PushKernelArg` as well.
use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError};
// END TODO

/// Queues one launch of a kernel in `module` on `stream`.
///
/// x holds `rows` rows of `columns` elements; labels and loss hold one element per row. Either number may be 0. A label is a
/// column or -100.
pub fn cross_entropy(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    x: &CudaView<'_, f32>,
    labels: &CudaView<'_, i32>,
    loss: &mut CudaViewMut<'_, f32>,
    rows: usize,
    columns: usize,
) -> Result<(), DriverError> {
    // TODO(launch): launch the kernel.
    //   1. `module.load_function("cross_entropy")?` gives the kernel.
    //   2. `stream.launch_builder(&kernel)` takes the arguments with `.arg(...)`, in the order of the kernel's
    //      parameters: `x`, `labels`, `loss`, `&rows`, `&columns` (a `usize` here is a `size_t` there).
    //   3. `.launch(config)` with a `LaunchConfig` of one block a row. Choose the threads by the row: as many as have 16
    //      elements each, as whole warps, and at most 1,024: `columns.div_ceil(16).next_multiple_of(32).min(1024)`.
    //      It is `unsafe`: nobody checks the arguments against the kernel's parameters but you. With one too few, or a
    //      `u32` for a `size_t`, the kernel reads nonsense.
    //   4. Nothing is to be launched where there are no rows or no columns: a grid of no blocks is an error. The losses of
    //      rows without columns are not looked at.
    let _ = (stream, module, x, labels, loss, rows, columns);
    Ok(())
    // END TODO
}
