//! The launch of `mul_add` by the driver's own function. The array of arguments ends too early, with a null behind it.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Arc;

use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DevicePtr, DevicePtrMut, DriverError, sys};

pub fn mul_add(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    q: &CudaView<'_, f32>,
    k: &CudaView<'_, f32>,
    v: &CudaView<'_, f32>,
    out: &mut CudaViewMut<'_, f32>,
) -> Result<(), DriverError> {
    let n = out.len();
    if n == 0 {
        return Ok(());
    }
    let kernel = module.load_function("mul_add")?;
    let blocks = n.div_ceil(256) as u32;
    let mut buffers = [q.device_ptr(stream).0, k.device_ptr(stream).0, v.device_ptr(stream).0, out.device_ptr_mut(stream).0];
    let mut count = n;
    let mut arguments = [null_mut::<c_void>(); 6];
    for (argument, buffer) in arguments.iter_mut().zip(&mut buffers) {
        *argument = std::ptr::from_mut(buffer).cast();
    }
    arguments[4] = std::ptr::from_mut(&mut count).cast();
    // SAFETY: the driver looks at the arguments before it launches anything.
    unsafe {
        let (stream, arguments) = (stream.cu_stream(), arguments.as_mut_ptr());
        sys::cuLaunchKernel(kernel.cu_function(), blocks, 1, 1, 256, 1, 1, 0, stream, arguments, null_mut()).result()
    }
}
