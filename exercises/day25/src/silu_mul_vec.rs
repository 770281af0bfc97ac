//! The launch of `silu_mul_vec`: silu(gate) * up in bf16.

use std::sync::Arc;

// TODO(imports): the launch needs `LaunchConfig` and `PushKernelArg` as well.
use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError};
// END TODO
use half::bf16;

/// Queues one launch of the kernel `silu_mul_vec` in `module` on `stream`.
///
/// The views have the same length, which may be 0.
pub fn silu_mul_vec(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    gate: &CudaView<'_, bf16>,
    up: &CudaView<'_, bf16>,
    out: &mut CudaViewMut<'_, bf16>,
) -> Result<(), DriverError> {
    // TODO(launch): launch the kernel.
    //   1. A grid of no blocks is an error: when there are no elements, return at once.
    //   2. `module.load_function("silu_mul_vec")?` gives the kernel.
    //   3. `stream.launch_builder(&kernel)` takes the arguments with `.arg(...)`, in the order of the
    //      kernel's parameters: `gate`, `up`, `out`, and the length as `&n`
    //      (a `usize` here is a `size_t` there).
    //   4. `.launch(config)` with a `LaunchConfig` that has enough threads for all elements, when each takes several. It is
    //      `unsafe`: nobody checks the arguments against the kernel's parameters but you.
    let _ = (stream, module, gate, up, out);
    Ok(())
    // END TODO
}
