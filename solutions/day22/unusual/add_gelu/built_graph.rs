//! A graph of one kernel node, made without a capture.

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
    let node = sys::CUDA_KERNEL_NODE_PARAMS {
        func: function,
        gridDimX: n.div_ceil(128) as u32,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: 128,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: 0,
        kernelParams: parameters.as_mut_ptr(),
        extra: std::ptr::null_mut(),
        kern: std::ptr::null_mut(),
        ctx: std::ptr::null_mut(),
    };
    let (mut graph, mut added, mut executable) = (std::ptr::null_mut(), std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: the driver writes handles to where they belong; the node's parameters are the kernel's in their order.
    unsafe {
        sys::cuGraphCreate(&mut graph, 0).result()?;
        sys::cuGraphAddKernelNode_v2(&mut added, graph, std::ptr::null(), 0, &node).result()?;
        sys::cuGraphInstantiateWithFlags(&mut executable, graph, 0).result()?;
        sys::cuGraphLaunch(executable, stream.cu_stream()).result()?;
        sys::cuStreamSynchronize(stream.cu_stream()).result()?;
        sys::cuGraphExecDestroy(executable).result()?;
        sys::cuGraphDestroy(graph).result()
    }
}
