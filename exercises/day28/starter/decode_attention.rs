//! The launches of `decode_attention`: attention of one new token of each sequence to a paged cache, in parts that are then merged.

use std::sync::Arc;

// TODO(imports): the launches need `LaunchConfig` and `PushKernelArg` as well, and the name of the attribute.
use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError};
// END TODO
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
    // TODO(launch): launch the two kernels, one after the other.
    //   1. `module.load_function("decode_attention")?` gives the first kernel, and "merge_parts" the second.
    //   2. `stream.launch_builder(&kernel)` takes the arguments with `.arg(...)`, in the order of the kernel's parameters. What a kernel
    //      writes and the next one reads is lent to the first builder as `&mut *partial`, and to the second one as `&partial.as_view()`.
    //   3. The first kernel has `sequences * parts * kv_heads` blocks of 128 threads, with `(16 * pages).div_ceil(256)` parts; the second has
    //      `sequences * q_heads` blocks of `head_dim` threads, if a thread has an element. All of them lie along x. A launch is
    //      `unsafe`: nobody checks the arguments against the kernel's parameters but you.
    //   4. The first kernel needs shared memory for three pages of keys and values per warp, in bytes: `shared_mem_bytes`. That is more
    //      than 48 KiB for 128 elements, so allow it before the launch: `kernel.set_attribute(
    //      CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes)?`, which is in `cudarc::driver::sys::CUfunction_attribute`.
    //   5. Nothing is to be launched where there are no sequences: a grid of no blocks is an error.
    let _ = (stream, module, q, k_cache, v_cache, block_table, lengths, partial, sums, out);
    let _ = (sequences, q_heads, kv_heads, head_dim, pages);
    Ok(())
    // END TODO
}
