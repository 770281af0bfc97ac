//! A launch by the C function of the driver.

use std::ffi::c_void;
use std::sync::Arc;

use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DevicePtr, DevicePtrMut, DriverError, sys};

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
    let function = module.load_function("add_gelu")?.cu_function();
    let ((a, _a), (b, _b), (out, _out)) = (a.device_ptr(stream), b.device_ptr(stream), out.device_ptr_mut(stream));
    let mut parameters = [&raw const a as *mut c_void, &raw const b as *mut _, &raw const out as *mut _, &raw const n as *mut _];
    let blocks = n.div_ceil(256) as u32;
    // SAFETY: the parameters are the kernel's in their order, and it touches only elements of the views.
    unsafe {
        sys::cuLaunchKernel(
            function,
            blocks,
            1,
            1,
            256,
            1,
            1,
            0,
            stream.cu_stream(),
            parameters.as_mut_ptr(),
            std::ptr::null_mut(),
        )
    }
    .result()
}
