//! A graph of one launch, which a stream of its own has captured.

use std::ffi::c_void;
use std::sync::Arc;

use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DevicePtr, DevicePtrMut, DriverError, result, sys};

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
    let side = stream.fork()?;
    side.begin_capture(sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED)?;
    let grid = (n.div_ceil(128) as u32, 1, 1);
    // SAFETY: the parameters are the kernel's in their order, and it touches only elements of the views.
    unsafe { result::launch_kernel(function, grid, (128, 1, 1), 0, side.cu_stream(), &mut parameters) }?;
    let flags = sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    if let Some(graph) = side.end_capture(flags)? {
        graph.launch()?;
        side.synchronize()?;
    }
    stream.join(&side)
}
