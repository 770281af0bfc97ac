//! The launch of `flash_attention_causal`: out = softmax(mask(q k^T / sqrt(d))) v for each head.

use std::sync::Arc;

// TODO(imports): the launch needs `LaunchConfig` and `PushKernelArg` as well.
use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError};
// END TODO
use half::bf16;

/// Queues one launch of a kernel in `module` on `stream`.
///
/// `q` and `out` hold `heads` heads of `length` rows of `head_dim` elements, which is 64 or 128. `k` and `v` hold `kv_heads` heads
/// of as many, and `heads` is a multiple of `kv_heads`. The other numbers may be 0.
#[allow(clippy::too_many_arguments)] // The operation has so many.
pub fn flash_attention_causal(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    q: &CudaView<'_, bf16>,
    k: &CudaView<'_, bf16>,
    v: &CudaView<'_, bf16>,
    out: &mut CudaViewMut<'_, bf16>,
    heads: usize,
    kv_heads: usize,
    length: usize,
    head_dim: usize,
) -> Result<(), DriverError> {
    // TODO(launch): launch the kernel.
    //   1. `module.load_function("flash_attention_causal")?` gives the kernel.
    //   2. `stream.launch_builder(&kernel)` takes the arguments with `.arg(...)`, in the order of the kernel's
    //      parameters: `q`, `k`, `v`, `out`, `&heads`, `&kv_heads`, `&length`, `&head_dim` (a `usize` here is a `size_t` there).
    //   3. `.launch(config)` with a `LaunchConfig` of 128 threads for 64 queries: each head has `length.div_ceil(64)` blocks,
    //      all of them along x. The launch is `unsafe`: nobody checks the arguments against the kernel's parameters but you.
    //   4. Nothing is to be launched where there are no heads or no tokens: a grid of no blocks is an error.
    let _ = (stream, module, q, k, v, out, heads, kv_heads, length, head_dim);
    Ok(())
    // END TODO
}
