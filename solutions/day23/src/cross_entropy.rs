//! The launch of `cross_entropy`: log(sum of exp(x)) - x[label], row by row.

use std::sync::Arc;

use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg};

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
    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let kernel = module.load_function("cross_entropy")?;
    // Sixteen elements for each thread of a short row, as whole warps. A long row keeps all threads that a block may have.
    let threads = columns.div_ceil(16).next_multiple_of(32).min(1024);
    let config = LaunchConfig {
        // More blocks than a grid can have are refused by the driver.
        grid_dim: (u32::try_from(rows).unwrap_or(u32::MAX), 1, 1),
        block_dim: (threads as u32, 1, 1),
        shared_mem_bytes: 0,
    };
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(x).arg(labels).arg(loss).arg(&rows).arg(&columns);
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only the elements of `rows` rows
    // of `columns` and one per row, which the views have; a label that is not -100 is a column.
    unsafe { launch.launch(config) }?;
    Ok(())
}
