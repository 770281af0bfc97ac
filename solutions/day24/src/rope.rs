//! The launch of `rope`: queries and keys, turned by their positions.

use std::sync::Arc;

use cudarc::driver::{
    CudaModule, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg,
};
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
    if tokens == 0 {
        return Ok(());
    }
    let kernel = module.load_function(if pairing == 0 { "rope_neox" } else { "rope_gptj" })?;
    let pairs = (q_heads + k_heads) * (head_dim / 2);
    let config = LaunchConfig {
        // More blocks than a grid can have are refused by the driver.
        grid_dim: (u32::try_from(tokens).unwrap_or(u32::MAX), 1, 1),
        block_dim: (pairs.next_multiple_of(32).min(512) as u32, 1, 1),
        shared_mem_bytes: 0,
    };
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(positions).arg(table).arg(q).arg(k).arg(&tokens).arg(&q_heads).arg(&k_heads).arg(&head_dim);
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only the heads of `tokens` tokens,
    // which the views have, and rows of the table that the positions name.
    unsafe { launch.launch(config) }?;
    Ok(())
}
