use std::sync::Arc;

use cudarc::driver::sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg};
use half::bf16;

#[allow(clippy::too_many_arguments)]
pub fn rmsnorm_fp8(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    x: &CudaView<'_, bf16>,
    weight: &CudaView<'_, bf16>,
    q: &mut CudaViewMut<'_, u8>,
    scale: &mut CudaViewMut<'_, f32>,
    rows: usize,
    columns: usize,
) -> Result<(), DriverError> {
    // The longest row that a block keeps, in elements. Some GPUs have room for more. The limit is the same everywhere, so
    // that the other kernel runs, and is judged, on every GPU.
    const LONGEST: usize = 16_384;

    if rows == 0 || columns == 0 {
        return Ok(());
    }
    // Sixteen elements for each thread, as whole warps: with fewer, the reductions would take as long as all the rest. With
    // more than 512 threads a multiprocessor would have room for too few blocks for one to load while another computes.
    let threads = columns.div_ceil(16).next_multiple_of(32).min(512);
    // A block keeps its row if there is room. More than 48 KiB must be asked for, and some GPUs give a block no more
    // than 64: not quite enough for a row of 16,384 and the arrays of the reductions.
    let kept = module.load_function("rmsnorm_fp8")?;
    let shared = columns.min(LONGEST) * size_of::<f32>();
    let room = kept.set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared as i32).is_ok();
    let (kernel, shared) = match room && columns <= LONGEST {
        true => (kept, shared),
        false => (module.load_function("rmsnorm_fp8_long")?, 0),
    };
    let config = LaunchConfig {
        // More blocks than a grid can have are refused by the driver.
        grid_dim: (u32::try_from(rows).unwrap_or(u32::MAX), 1, 1),
        block_dim: (threads as u32, 1, 1),
        shared_mem_bytes: shared as u32,
    };
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(x).arg(weight).arg(q).arg(scale).arg(&rows).arg(&columns);
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only the elements of `rows` rows
    // of `columns`, and of single rows, which the views have.
    unsafe { launch.launch(config) }?;
    Ok(())
}
