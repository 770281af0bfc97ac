//! A launch whose parameters lie in one buffer.

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
    let mut packed = [a, b, out, n as u64];
    let mut size = size_of_val(&packed);
    // CU_LAUNCH_PARAM_BUFFER_POINTER, CU_LAUNCH_PARAM_BUFFER_SIZE, CU_LAUNCH_PARAM_END.
    let mut extra = [
        std::ptr::without_provenance_mut::<c_void>(1),
        packed.as_mut_ptr().cast(),
        std::ptr::without_provenance_mut(2),
        (&raw mut size).cast(),
        std::ptr::null_mut(),
    ];
    let (blocks, none) = (n.div_ceil(256) as u32, std::ptr::null_mut());
    // SAFETY: the buffer holds the kernel's parameters in their order, and it touches only elements of the views.
    unsafe {
        sys::cuLaunchKernel(function, blocks, 1, 1, 256, 1, 1, 0, stream.cu_stream(), none, extra.as_mut_ptr()).result()
    }
}
