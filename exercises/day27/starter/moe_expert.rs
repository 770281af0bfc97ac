//! The launches of `moe_expert`: a layer of a mixture of experts.

use std::sync::Arc;

// TODO(imports): launches need `LaunchConfig` and `PushKernelArg` as well.
use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError};
// END TODO
use half::bf16;

/// Queues at most three launches of kernels in `module` on `stream`.
///
/// `x` and `out` hold `tokens` rows of `hidden` elements. `w1` holds `hidden` rows of `2 * inter` for each of `experts`, and `w2` holds `inter`
/// rows of `hidden`. `order` and `weights` hold an element for each of `2 * tokens` slots, and `offsets` holds `experts + 1`. Of the lent buffers
/// `activated` holds `inter` elements for each slot, and `parts` holds `hidden`. Each size but `experts` may be 0.
#[allow(clippy::too_many_arguments)] // The operation has so many.
pub fn moe_expert(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    x: &CudaView<'_, bf16>,
    w1: &CudaView<'_, bf16>,
    w2: &CudaView<'_, bf16>,
    order: &CudaView<'_, i32>,
    offsets: &CudaView<'_, i32>,
    weights: &CudaView<'_, f32>,
    activated: &mut CudaViewMut<'_, bf16>,
    parts: &mut CudaViewMut<'_, f32>,
    out: &mut CudaViewMut<'_, bf16>,
    tokens: usize,
    experts: usize,
    hidden: usize,
    inter: usize,
) -> Result<(), DriverError> {
    // TODO(launch): launch your kernels, whatever the number of experts at most three times.
    //   1. `module.load_function("experts_up")?` gives a kernel; `stream.launch_builder(&kernel)` takes its arguments with
    //      `.arg(...)`, in the order of its parameters, and `.launch(config)` queues it. A launch is `unsafe`: nobody checks
    //      the arguments against the parameters but you.
    //   2. The host does not know how many tokens an expert has. So the grid has the columns along x, as many blocks as
    //      `inter.div_ceil(64)` and `hidden.div_ceil(128)`, and the experts along y. `multiply_tile` wants 128 threads.
    //   3. A buffer that one launch writes and the next one reads is passed as `&mut *buffer` to the first; its
    //      `buffer.as_view()` is what the second takes.
    //   4. Nothing is to be launched where there are no tokens or no elements of one: a grid of no blocks is an error. Where
    //      `inter` is 0, the first kernel has no columns, and `out` is 0.
    let _ = (stream, module, x, w1, w2, order, offsets, weights, activated, parts, out, tokens, experts, hidden, inter);
    Ok(())
    // END TODO
}
