//! A struct as the kernel's only argument.

use std::sync::Arc;

use cudarc::driver::{
    CudaModule, CudaStream, CudaView, CudaViewMut, DevicePtr, DevicePtrMut, DeviceRepr, DriverError, LaunchConfig, PushKernelArg,
};

#[repr(C)]
struct Problem {
    x: u64,
    y: u64,
    out: u64,
    n: usize,
}

// SAFETY: it is laid out as C does, of plain numbers.
unsafe impl DeviceRepr for Problem {}

pub fn add_mul_exp(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    x: &CudaView<'_, f32>,
    y: &CudaView<'_, f32>,
    out: &mut CudaViewMut<'_, f32>,
) -> Result<(), DriverError> {
    let n = out.len();
    if n == 0 {
        return Ok(());
    }
    let ((x, _x), (y, _y), (out, _out)) = (x.device_ptr(stream), y.device_ptr(stream), out.device_ptr_mut(stream));
    let problem = Problem { x, y, out, n };
    let kernel = module.load_function("add_mul_exp")?;
    let config = LaunchConfig { grid_dim: (n.div_ceil(256) as u32, 1, 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 };
    // SAFETY: the struct is laid out as the kernel's parameter, and the kernel touches only elements of the views.
    unsafe { stream.launch_builder(&kernel).arg(&problem).launch(config) }?;
    Ok(())
}
