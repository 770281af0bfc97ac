//! The launch of `gemm_dequant`: d = a (q scale).

use std::sync::Arc;

// TODO(imports): the launch needs `LaunchConfig` and `PushKernelArg` as well.
use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError};
// END TODO
use half::bf16;

/// Queues one launch of a kernel in `module` on `stream`.
///
/// `a` holds `m` rows of `k` elements, `q` holds `k` rows of `n`, `scale` holds `n` elements, `d` holds `m` rows of `n`; each of them may
/// be 0.
#[allow(clippy::too_many_arguments)] // The operation has so many.
pub fn gemm_dequant(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    a: &CudaView<'_, bf16>,
    q: &CudaView<'_, i8>,
    scale: &CudaView<'_, f32>,
    d: &mut CudaViewMut<'_, bf16>,
    m: usize,
    n: usize,
    k: usize,
) -> Result<(), DriverError> {
    // TODO(launch): launch the kernel.
    //   1. `module.load_function("gemm_dequant")?` gives the kernel.
    //   2. `stream.launch_builder(&kernel)` takes the arguments with `.arg(...)`, in the order of the kernel's
    //      parameters: `a`, `q`, `scale`, `d`, `&m`, `&n`, `&k` (a `usize` here is a `size_t` there).
    //   3. `.launch(config)` with a `LaunchConfig` of 512 threads and one block for each 32 columns and 16, 32 or 64 rows, as many
    //      as your kernel takes: `grid_dim` has `m.div_ceil(rows)` blocks along x and `n.div_ceil(32)` along y. The launch is
    //      `unsafe`: nobody checks the arguments against the kernel's parameters but you.
    //   4. Nothing is to be launched where there are no rows or no columns: a grid of no blocks is an error. Where `k` is
    //      0, `d` is 0.
    let _ = (stream, module, a, q, scale, d, m, n, k);
    Ok(())
    // END TODO
}
