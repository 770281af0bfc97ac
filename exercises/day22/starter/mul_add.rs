//! The launch of `mul_add`: q * k + v.

use std::sync::Arc;

// TODO(imports): the launch needs `LaunchConfig` and `PushKernelArg` as well.
use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError};
// END TODO

/// Queues one launch of the kernel `mul_add` in `module` on `stream`.
///
/// The views have the same length, which may be 0.
pub fn mul_add(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    q: &CudaView<'_, f32>,
    k: &CudaView<'_, f32>,
    v: &CudaView<'_, f32>,
    out: &mut CudaViewMut<'_, f32>,
) -> Result<(), DriverError> {
    // TODO(launch): launch the kernel.
    //   1. A grid of no blocks is an error: when there are no elements, return at once.
    //   2. `module.load_function("mul_add")?` gives the kernel.
    //   3. `stream.launch_builder(&kernel)` takes the arguments with `.arg(...)`, in the order of the
    //      kernel's parameters: `q`, `k`, `v`, `out`, and the length as `&n`
    //      (a `usize` here is a `size_t` there).
    //   4. `.launch(config)` with a `LaunchConfig` that has enough blocks for all elements. It is
    //      `unsafe`: nobody checks the arguments against the kernel's parameters but you.
    let _ = (stream, module, q, k, v, out);
    Ok(())
    // END TODO
}
