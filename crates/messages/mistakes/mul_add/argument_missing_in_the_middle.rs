//! The launch of `mul_add` by the driver's own function, without `v`. The array of arguments ends too early, with a null behind it.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Arc;

use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DevicePtr, DevicePtrMut, DriverError, sys};

pub fn mul_add(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    q: &CudaView<'_, f32>,
    k: &CudaView<'_, f32>,
    _v: &CudaView<'_, f32>,
    out: &mut CudaViewMut<'_, f32>,
) -> Result<(), DriverError> {
    let n = out.len();
    if n == 0 {
        return Ok(());
    }
    let kernel = module.load_function("mul_add")?;
    let blocks = n.div_ceil(256) as u32;
    let mut values = [q.device_ptr(stream).0, k.device_ptr(stream).0, out.device_ptr_mut(stream).0, n as u64];
    let mut arguments = [null_mut::<c_void>(); 5];
    for (argument, value) in arguments.iter_mut().zip(&mut values) {
        *argument = std::ptr::from_mut(value).cast();
    }
    // SAFETY: the driver looks at the arguments before it launches anything.
    unsafe {
        let (stream, arguments) = (stream.cu_stream(), arguments.as_mut_ptr());
        sys::cuLaunchKernel(kernel.cu_function(), blocks, 1, 1, 256, 1, 1, 0, stream, arguments, null_mut()).result()
    }
}
