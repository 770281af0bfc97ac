//! A cooperative launch of as many blocks as the device holds at once.

use std::sync::Arc;

use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg};

pub fn add_gelu(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    a: &CudaView<'_, f32>,
    b: &CudaView<'_, f32>,
    out: &mut CudaViewMut<'_, f32>,
) -> Result<(), DriverError> {
    let n = out.len();
    if n == 0 {
        return Ok(());
    }
    const THREADS: u32 = 256;
    let kernel = module.load_function("add_gelu")?;
    let each = kernel.occupancy_max_active_blocks_per_multiprocessor(THREADS, 0, None)?;
    let multiprocessors = stream.context().attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
    let blocks = n.div_ceil(THREADS as usize).min(each as usize * multiprocessors as usize) as u32;
    let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 };
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(a).arg(b).arg(out).arg(&n);
    // SAFETY: the arguments are the kernel's parameters in their order, and it touches only elements of the views.
    unsafe { launch.launch_cooperative(config) }?;
    Ok(())
}
