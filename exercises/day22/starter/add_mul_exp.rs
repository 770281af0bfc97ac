//! The launch of `add_mul_exp`: exp((x + y) * 2).

use std::sync::Arc;

// TODO(imports): the launch needs `LaunchConfig` and `PushKernelArg` as well.
use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError};
// END TODO

/// Queues one launch of the kernel `add_mul_exp` in `module` on `stream`.
///
/// The views have the same length, which may be 0.
pub fn add_mul_exp(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    x: &CudaView<'_, f32>,
    y: &CudaView<'_, f32>,
    out: &mut CudaViewMut<'_, f32>,
) -> Result<(), DriverError> {
    // TODO(launch): launch the kernel.
    //   1. A grid of no blocks is an error: when there are no elements, return at once.
    //   2. `module.load_function("add_mul_exp")?` gives the kernel.
    //   3. `stream.launch_builder(&kernel)` takes the arguments with `.arg(...)`, in the order of the
    //      kernel's parameters: `x`, `y`, `out`, and the length as `&n`
    //      (a `usize` here is a `size_t` there).
    //   4. `.launch(config)` with a `LaunchConfig` that has enough blocks for all elements. It is
    //      `unsafe`: nobody checks the arguments against the kernel's parameters but you.
    let _ = (stream, module, x, y, out);
    Ok(())
    // END TODO
}
