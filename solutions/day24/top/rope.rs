//! The launch of `rope`: queries and keys, turned by their positions.

use std::sync::Arc;

use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
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
    if tokens == 0 {
        return Ok(());
    }
    // A thread has eight pairs of a head, and two heads at once.
    const PAIRS: usize = 8;
    const HEADS: usize = 2;
    const MOST: usize = 512;
    const USUAL: usize = 256;

    let heads = q_heads + k_heads;
    let chunks = head_dim / 2 / PAIRS;
    let whole_packs = head_dim.is_multiple_of(2 * PAIRS)
        && (1..=MOST).contains(&chunks)
        && table.device_ptr(stream).0 % 16 == 0
        && [&*q, &*k].iter().all(|view| view.device_ptr(stream).0 % 16 == 0);
    let pairing = if pairing == 0 { "rope_neox" } else { "rope_gptj" };
    let (kernel, threads, each) = if whole_packs {
        let threads = chunks * heads.div_ceil(HEADS).min(MOST / chunks);
        // Few threads share their block with other tokens, as long as all multiprocessors still get blocks.
        let multiprocessors = stream.context().attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)? as usize;
        let each = (USUAL / threads).min(tokens / (2 * multiprocessors)).max(1);
        (module.load_function(pairing)?, threads, each)
    } else {
        let threads = (heads * (head_dim / 2)).next_multiple_of(32).min(MOST);
        (module.load_function(&format!("{pairing}_any"))?, threads, 1)
    };
    let config = LaunchConfig {
        // More blocks than a grid can have are refused by the driver.
        grid_dim: (u32::try_from(tokens.div_ceil(each)).unwrap_or(u32::MAX), 1, 1),
        block_dim: (threads as u32, each as u32, 1),
        shared_mem_bytes: 0,
    };
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(positions).arg(table).arg(q).arg(k).arg(&tokens).arg(&q_heads).arg(&k_heads).arg(&head_dim);
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only the heads of `tokens` tokens,
    // which the views have, and rows of the table that the positions name.
    unsafe { launch.launch(config) }?;
    Ok(())
}
