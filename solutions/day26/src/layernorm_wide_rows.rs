//! The launch of `layernorm_wide_rows`: layernorm of long rows.

use std::sync::Arc;

use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH;
use cudarc::driver::sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg};

/// Queues one launch of a kernel in `module` on `stream`.
///
/// x and out hold `rows` rows of `columns` elements; either number may be 0. gamma and beta hold `columns` elements.
pub fn layernorm_wide_rows(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    x: &CudaView<'_, f32>,
    gamma: &CudaView<'_, f32>,
    beta: &CudaView<'_, f32>,
    out: &mut CudaViewMut<'_, f32>,
    rows: usize,
    columns: usize,
) -> Result<(), DriverError> {
    // Blocks that share a row: the kernel's `__cluster_dims__`.
    const CLUSTER: usize = 8;
    // The rows that a cluster keeps. In a shorter one a block would have less than 16 elements for each thread of a warp.
    // In the longest a block keeps 64 KiB, so that a multiprocessor has room for several.
    const SHORTEST: usize = 4096;
    const LONGEST: usize = 131_072;

    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let has_clusters = stream.context().attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH)? != 0;
    let (name, blocks, elements, kept) = match has_clusters && (SHORTEST..=LONGEST).contains(&columns) {
        true => ("layernorm_wide_rows", CLUSTER, columns.div_ceil(CLUSTER), columns.div_ceil(CLUSTER)),
        false => ("layernorm_wide_rows_long", 1, columns, 0),
    };
    let kernel = module.load_function(name)?;
    // More than 48 KiB must be asked for.
    let shared = kept * size_of::<f32>();
    kernel.set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared as i32)?;
    // Sixteen elements for each thread, as whole warps, and at most 512: several blocks fit on a multiprocessor, so that
    // one loads while another computes.
    let threads = elements.div_ceil(16).next_multiple_of(32).min(512);
    let config = LaunchConfig {
        // More blocks than a grid can have are refused by the driver.
        grid_dim: (u32::try_from(rows.saturating_mul(blocks)).unwrap_or(u32::MAX), 1, 1),
        block_dim: (threads as u32, 1, 1),
        shared_mem_bytes: shared as u32,
    };
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(x).arg(gamma).arg(beta).arg(out).arg(&rows).arg(&columns);
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only the elements of `rows` rows
    // of `columns`, and of single rows, which the views have.
    unsafe { launch.launch(config) }?;
    Ok(())
}
