//! The launch of `rope`: queries and keys, turned by their positions.

use std::sync::Arc;

use cudarc::driver::{
    CudaModule, CudaStream, CudaView, CudaViewMut, DevicePtr, DriverError, LaunchConfig, PushKernelArg,
};
use half::bf16;

/// Queues one launch of the kernel that `pairing` names, 0 `rope_neox`, 1 `rope_gptj`, in `module` on `stream`.
///
/// `q` has `q_heads` heads of `head_dim` elements for each token, and `k` has `k_heads`. `positions` has one row of the
/// table for each token, and `table` has rows of `head_dim` elements. There may be no tokens; nothing is launched then.
pub(super) fn rope(
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
    if tokens == 0 || (q_heads + k_heads) * head_dim == 0 {
        return Ok(());
    }
    // Elements of a pack of 16 bytes, and packs that a thread has at once.
    const PACK: usize = 8;
    const PACKS: usize = 5;
    const WARP: usize = 32;
    const MOST: usize = 512;

    let heads = q_heads + k_heads;
    // Lanes half a head apart have both sides of a pair, so a warp has whole heads.
    let whole_packs = head_dim.is_power_of_two()
        && (2 * PACK..=WARP * PACK).contains(&head_dim)
        && table.device_ptr(stream).0 % 16 == 0
        && [&*q, &*k].iter().all(|view| view.device_ptr(stream).0 % 16 == 0);
    let pairing = if pairing == 0 { "rope_neox" } else { "rope_gptj" };
    let (kernel, threads) = if whole_packs {
        let threads = (heads * head_dim / PACK).div_ceil(PACKS);
        (module.load_function(pairing)?, threads)
    } else {
        (module.load_function(&format!("{pairing}_any"))?, heads * (head_dim / 2))
    };
    let config = LaunchConfig {
        // More blocks than a grid can have are refused by the driver.
        grid_dim: (u32::try_from(tokens).unwrap_or(u32::MAX), 1, 1),
        block_dim: (threads.next_multiple_of(WARP).min(MOST) as u32, 1, 1),
        shared_mem_bytes: 0,
    };
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(positions).arg(table).arg(q).arg(k).arg(&q_heads).arg(&k_heads).arg(&head_dim);
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only the heads of `tokens` tokens,
    // which the views have, and rows of the table that the positions name.
    unsafe { launch.launch(config) }?;
    Ok(())
}
