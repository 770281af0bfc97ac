//! The launch of `average`: (x + y) / 2.

use std::sync::Arc;

// TODO(imports): the launch needs `LaunchConfig` and `PushKernelArg` as well.
use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError};
// END TODO

/// Queues one launch of the kernel `average` in `module` on `stream`.
///
/// The views have the same length, which may be 0.
pub fn average(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    x: &CudaView<'_, f32>,
    y: &CudaView<'_, f32>,
    out: &mut CudaViewMut<'_, f32>,
) -> Result<(), DriverError> {
    // TODO(launch): launch the kernel. Remove the two lines at the end of this region.
    //   1. `out.len()` is the number of elements. Call it `n`. A grid of no blocks is an
    //      error: when `n` is 0, return `Ok(())` at once.
    //   2. `module.load_function("average")?` gives the kernel.
    //   3. A `LaunchConfig` says how many blocks there are, and how many threads each has.
    //      Take 256 threads per block, and enough blocks for all elements.
    //   4. `stream.launch_builder(&kernel)` takes the arguments with `.arg(...)`, in the
    //      order of the kernel's parameters: `x`, `y`, `out`, and the length as `&n`
    //      (a `usize` here is a `size_t` there).
    //   5. `.launch(config)` queues the launch. It is `unsafe`: nobody but you checks the
    //      arguments against the kernel's parameters. It returns a `Result`, so a `?` goes
    //      behind it.
    let _ = (stream, module, x, y, out);
    Ok(())
    // END TODO
}
