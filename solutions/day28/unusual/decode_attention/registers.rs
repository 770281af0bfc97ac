//! The launches of `decode_attention`: attention of one new token of each sequence to a paged cache, in parts that are then merged.

use std::sync::Arc;

use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg};
use half::bf16;

/// Queues at most two launches of kernels in `module` on `stream`.
///
/// `q` and `out` hold `q_heads` heads of `head_dim` elements, which is 64 or 128, for each of `sequences` sequences. `k_cache` and `v_cache` hold
/// pages of `kv_heads` heads of 16 rows of `head_dim` elements, `block_table` has `pages` numbers of them for each sequence, and
/// `lengths` the number of its tokens, at least one and at most 16 for each page. `partial` and `sums` are lent: they hold `head_dim` and 2 elements for each head of queries
/// of each 256 tokens that a sequence may have.
#[allow(clippy::too_many_arguments)] // The operation has so many.
pub fn decode_attention(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    q: &CudaView<'_, bf16>,
    k_cache: &CudaView<'_, bf16>,
    v_cache: &CudaView<'_, bf16>,
    block_table: &CudaView<'_, i32>,
    lengths: &CudaView<'_, i32>,
    partial: &mut CudaViewMut<'_, f32>,
    sums: &mut CudaViewMut<'_, f32>,
    out: &mut CudaViewMut<'_, bf16>,
    sequences: usize,
    q_heads: usize,
    kv_heads: usize,
    head_dim: usize,
    pages: usize,
) -> Result<(), DriverError> {
    const PART: usize = 256;

    if sequences == 0 {
        return Ok(());
    }
    // More blocks than a grid can have are refused by the driver.
    let grid = |blocks: usize| (u32::try_from(blocks).unwrap_or(u32::MAX), 1, 1);
    let parts = (16 * pages).div_ceil(PART);

    let attend = module.load_function("decode_attention")?;
    let config =
        LaunchConfig { grid_dim: grid(sequences * parts * kv_heads), block_dim: (128, 1, 1), shared_mem_bytes: 0 };
    let mut launch = stream.launch_builder(&attend);
    launch.arg(q).arg(k_cache).arg(v_cache).arg(block_table).arg(lengths).arg(&mut *partial).arg(&mut *sums);
    launch.arg(&q_heads).arg(&kv_heads).arg(&head_dim).arg(&pages);
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only the pages that the table has and the
    // elements that the sizes say, which the views have.
    unsafe { launch.launch(config) }?;

    let merge = module.load_function("merge_parts")?;
    let (partial, sums) = (partial.as_view(), sums.as_view());
    let config =
        LaunchConfig { grid_dim: grid(sequences * q_heads), block_dim: (head_dim as u32, 1, 1), shared_mem_bytes: 0 };
    let mut launch = stream.launch_builder(&merge);
    launch.arg(&partial).arg(&sums).arg(lengths).arg(out).arg(&q_heads).arg(&pages);
    // SAFETY: as above.
    unsafe { launch.launch(config) }?;
    Ok(())
}
