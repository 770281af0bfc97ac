//! The launch of `scale_shift_offset`: x * scale + shift of views that begin anywhere.

use std::sync::Arc;

// TODO(imports): the launch needs `LaunchConfig` and `PushKernelArg` as well.
use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError};
// END TODO

/// Queues one launch of the kernel `scale_shift_offset` in `module` on `stream`.
///
/// The views have the same length, which may be 0.
pub fn scale_shift_offset(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    x: &CudaView<'_, f32>,
    out: &mut CudaViewMut<'_, f32>,
    scale: f32,
    shift: f32,
) -> Result<(), DriverError> {
    // TODO(launch): launch the kernel.
    //   1. A grid of no blocks is an error: when there are no elements, return at once.
    //   2. `module.load_function("scale_shift_offset")?` gives the kernel.
    //   3. `stream.launch_builder(&kernel)` takes the arguments with `.arg(...)`, in the order of the
    //      kernel's parameters: `x`, `out`, `&scale`, `&shift`, and the length as `&n`
    //      (a `usize` here is a `size_t` there).
    //   4. `.launch(config)` with a `LaunchConfig` that has enough threads for all elements, when each takes several. It is
    //      `unsafe`: nobody checks the arguments against the kernel's parameters but you.
    let _ = (stream, module, x, out, scale, shift);
    Ok(())
    // END TODO
}
