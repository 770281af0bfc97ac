//! The launch of `new_exercise`: 2 a b.

use std::sync::Arc;

// TODO(imports): the launch needs `LaunchConfig` and `PushKernelArg` as well.
use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError};
// END TODO

/// Queues one launch of the kernel `new_exercise` in `module` on `stream`.
///
/// The views have the same length, which may be 0.
pub fn new_exercise(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    a: &CudaView<'_, f32>,
    b: &CudaView<'_, f32>,
    out: &mut CudaViewMut<'_, f32>,
) -> Result<(), DriverError> {
    // TODO(launch): FILL IN what to write. Launch the kernel:
    //   1. A grid of no blocks is an error: when there are no elements, return at once.
    //   2. `module.load_function("new_exercise")?` gives the kernel.
    //   3. `stream.launch_builder(&kernel)` takes the arguments with `.arg(...)`, in the order of the
    //      kernel's parameters: `a`, `b`, `out`, and the length as `&n`.
    //   4. `.launch(config)` with a `LaunchConfig` that has enough blocks for all elements. It is
    //      `unsafe`: nobody checks the arguments against the kernel's parameters but you.
    let _ = (stream, module, a, b, out);
    Ok(())
    // END TODO
}
