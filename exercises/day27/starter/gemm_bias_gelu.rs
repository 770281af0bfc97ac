//! The launch of `gemm_bias_gelu`: d = gelu(a b + bias) + residual.

use std::sync::Arc;

// TODO(imports): the launch needs `LaunchConfig` and `PushKernelArg` as well.
use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError};
// END TODO
use half::bf16;

/// Queues one launch of a kernel in `module` on `stream`.
///
/// `a` holds `m` rows of `k` elements, `b` holds `k` rows of `n`, `bias` holds `n` elements, `residual` and `d` hold `m` rows of `n`;
/// each of them may be 0.
#[allow(clippy::too_many_arguments)] // The operation has so many.
pub fn gemm_bias_gelu(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    a: &CudaView<'_, bf16>,
    b: &CudaView<'_, bf16>,
    bias: &CudaView<'_, bf16>,
    residual: &CudaView<'_, bf16>,
    d: &mut CudaViewMut<'_, bf16>,
    m: usize,
    n: usize,
    k: usize,
) -> Result<(), DriverError> {
    // TODO(launch): launch the kernel.
    //   1. `module.load_function("gemm_bias_gelu")?` gives the kernel.
    //   2. `stream.launch_builder(&kernel)` takes the arguments with `.arg(...)`, in the order of the kernel's
    //      parameters: `a`, `b`, `bias`, `residual`, `d`, `&m`, `&n`, `&k` (a `usize` here is a `size_t` there).
    //   3. `.launch(config)` with a `LaunchConfig` of 256 threads and one block a tile: `grid_dim` has `m.div_ceil(128)`
    //      blocks along x and `n.div_ceil(128)` along y. Along x a grid may have 2^31 - 1 blocks, along y only 65,535.
    //      The launch is `unsafe`: nobody checks the arguments against the kernel's parameters but you.
    //   4. Nothing is to be launched where there are no rows or no columns: a grid of no blocks is an error. Where `k` is
    //      0, the product is 0, and all that follows is still to be done.
    let _ = (stream, module, a, b, bias, residual, d, m, n, k);
    Ok(())
    // END TODO
}
