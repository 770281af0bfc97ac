//! The launch of `layernorm_bias_gelu`: gelu(layernorm(x) + bias).

use std::sync::Arc;

use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
use cudarc::driver::{
    CudaModule, CudaStream, CudaView, CudaViewMut, DevicePtr, DriverError, LaunchConfig, PushKernelArg,
};

/// Queues one launch of a kernel in `module` on `stream`.
///
/// x and out hold `rows` rows of `columns` elements; either number may be 0. The others hold `columns` elements.
#[allow(clippy::too_many_arguments)]
pub(super) fn layernorm_bias_gelu(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    x: &CudaView<'_, f32>,
    gamma: &CudaView<'_, f32>,
    beta: &CudaView<'_, f32>,
    bias: &CudaView<'_, f32>,
    out: &mut CudaViewMut<'_, f32>,
    rows: usize,
    columns: usize,
) -> Result<(), DriverError> {
    // Threads that share a row, and packs of four elements that each of them can hold.
    const LADDER: [(usize, usize); 6] = [(32, 4), (64, 4), (128, 4), (256, 4), (512, 8), (1024, 8)];

    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let whole_packs = columns.is_multiple_of(4)
        && [x, gamma, beta, bias].iter().all(|view| view.device_ptr(stream).0 % 16 == 0)
        && out.device_ptr(stream).0 % 16 == 0;
    let multiprocessors = stream.context().attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)? as usize;
    // More threads than the row needs would idle. But with a row or less for each multiprocessor there are threads to
    // spare, and half as much work for each is done sooner.
    let mut holding = LADDER.into_iter().filter(|(threads, packs)| whole_packs && 4 * threads * packs >= columns);
    let (name, threads) = match (holding.next(), holding.next()) {
        (Some((fewest, _)), Some((threads, packs))) if threads > fewest && rows <= multiprocessors => {
            (format!("layernorm_bias_gelu_{threads}_{packs}"), threads)
        }
        (Some((threads, packs)), _) => (format!("layernorm_bias_gelu_{threads}_{packs}"), threads),
        // A block of its own for each row; of 32 threads it would be shared.
        (None, _) => ("layernorm_bias_gelu_any".to_owned(), columns.min(256).next_power_of_two().max(64)),
    };
    let kernel = module.load_function(&name)?;
    // Rows that one warp holds share a block of four.
    let block = if threads == 32 { 128 } else { threads };
    // More blocks than a grid can have are refused by the driver.
    let blocks = u32::try_from(rows.div_ceil(block / threads)).unwrap_or(u32::MAX);
    let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (block as u32, 1, 1), shared_mem_bytes: 0 };
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(x).arg(gamma).arg(beta).arg(bias).arg(out).arg(&rows).arg(&columns);
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only the elements of `rows` rows
    // of `columns`, and of single rows, which the views have.
    unsafe { launch.launch(config) }?;
    Ok(())
}
