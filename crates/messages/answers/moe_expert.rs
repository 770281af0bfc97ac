//! The launches of `moe_expert`: a layer of a mixture of experts.

use std::sync::Arc;

use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg};
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
    const TILE_THREADS: u32 = 128;

    if tokens == 0 || hidden == 0 {
        return Ok(());
    }
    // More blocks than a grid can have are refused by the driver.
    let blocks = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let grid = |columns: u32| LaunchConfig {
        grid_dim: (columns, blocks(experts), 1),
        block_dim: (TILE_THREADS, 1, 1),
        shared_mem_bytes: 0,
    };

    if inter > 0 {
        let up = module.load_function("experts_up")?;
        let mut launch = stream.launch_builder(&up);
        launch.arg(x).arg(w1).arg(order).arg(offsets).arg(&mut *activated).arg(&hidden).arg(&inter);
        // SAFETY: the arguments are the kernel's parameters in their order, and it touches only the elements that the sizes
        // and the tables say, which the views have.
        unsafe { launch.launch(grid(blocks(inter.div_ceil(64)))) }?;
    }

    let down = module.load_function("experts_down")?;
    let activated = activated.as_view();
    let mut launch = stream.launch_builder(&down);
    launch.arg(&activated).arg(w2).arg(order).arg(offsets).arg(&mut *parts).arg(&hidden).arg(&inter);
    // SAFETY: as above.
    unsafe { launch.launch(grid(blocks(hidden.div_ceil(128)))) }?;

    let combine = module.load_function("combine")?;
    let parts = parts.as_view();
    let config = LaunchConfig { grid_dim: (blocks(tokens), 1, 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 };
    let mut launch = stream.launch_builder(&combine);
    launch.arg(&parts).arg(weights).arg(out).arg(&hidden);
    // SAFETY: as above.
    unsafe { launch.launch(config) }?;
    Ok(())
}
