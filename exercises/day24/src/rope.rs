//! The launch of `rope`: queries and keys, turned by their positions.

use std::sync::Arc;

// TODO(imports): the launch needs `LaunchConfig` and `PushKernelArg` as well.
use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError};
// END TODO
use half::bf16;

/// Queues one launch of the kernel that `pairing` names, 0 `rope_neox`, 1 `rope_gptj`, in `module` on `stream`.
///
/// `q` has `q_heads` heads of `head_dim` elements for each token, and `k` has `k_heads`. `positions` has one row of the
/// table for each token, and `table` has rows of `head_dim` elements. There may be no tokens; nothing is launched then.
pub fn rope(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    positions: &CudaView<'_, i32>,
    table: &CudaView<'_, f32>,
    q: &mut CudaViewMut<'_, bf16>,
    k: &mut CudaViewMut<'_, bf16>,
    pairing: i32,
    tokens: usize,
    q_heads: usize,
    k_heads: usize,
    head_dim: usize,
) -> Result<(), DriverError> {
    // TODO(launch): launch the kernel.
    //   1. A grid of no blocks is an error: when there are no tokens, return at once.
    //   2. `module.load_function(name)?` gives the kernel; the name depends on `pairing`.
    //   3. `stream.launch_builder(&kernel)` takes the arguments with `.arg(...)`, in the order of the kernel's
    //      parameters: `positions`, `table`, `q`, `k`, `&tokens`, `&q_heads`, `&k_heads`, `&head_dim` (a `usize` here is a
    //      `size_t` there).
    //   4. `.launch(config)` with a `LaunchConfig` of one block per token, with a thread for each pair, as whole warps, and
    //      at most 512: `((q_heads + k_heads) * head_dim / 2).next_multiple_of(32).min(512)`. It is `unsafe`: nobody
    //      checks the arguments against the kernel's parameters but you.
    let _ = (stream, module, positions, table, q, k, pairing, tokens, q_heads, k_heads, head_dim);
    Ok(())
    // END TODO
}
