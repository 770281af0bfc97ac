//! Functions that the driver has under another name: the same arguments, the same codes. Streams, events, graphs, pools and handles
//! of memory are the driver's own.

use std::ffi::{c_char, c_int, c_uint};

use crate::boundary::{Handle, Ptr, driver, export};
use crate::device;

/// `cudaX = cuY(arguments)`.
macro_rules! forward {
    ($($name:ident = $driver:ident($($arg:ident: $ty:ty),* $(,)?);)*) => {
        driver! { $(fn $driver($($arg: $ty),*);)* }

        export! {
            $(fn $name($($arg: $ty),*) {
                device::begin()?;
                $driver($($arg),*)
            })*
        }
    };
}

forward! {
    cudaMallocAsync = cuMemAllocAsync(out: *mut Ptr, size: usize, stream: Handle);
    cudaMallocFromPoolAsync = cuMemAllocFromPoolAsync(out: *mut Ptr, size: usize, pool: Handle, stream: Handle);
    cudaFreeAsync = cuMemFreeAsync(address: Ptr, stream: Handle);
    cudaMallocHost = cuMemAllocHost_v2(out: *mut Ptr, size: usize);
    cudaHostAlloc = cuMemHostAlloc(out: *mut Ptr, size: usize, flags: c_uint);
    cudaHostRegister = cuMemHostRegister_v2(address: Ptr, size: usize, flags: c_uint);
    cudaHostUnregister = cuMemHostUnregister(address: Ptr);
    cudaHostGetDevicePointer = cuMemHostGetDevicePointer_v2(out: *mut Ptr, address: Ptr, flags: c_uint);
    cudaHostGetFlags = cuMemHostGetFlags(flags: *mut c_uint, address: Ptr);
    cudaMallocManaged = cuMemAllocManaged(out: *mut Ptr, size: usize, flags: c_uint);
    cudaMemGetInfo = cuMemGetInfo_v2(free: *mut usize, total: *mut usize);
    cudaDeviceGetDefaultMemPool = cuDeviceGetDefaultMemPool(pool: *mut Handle, device: c_int);
    cudaDeviceGetMemPool = cuDeviceGetMemPool(pool: *mut Handle, device: c_int);
    cudaDeviceSetMemPool = cuDeviceSetMemPool(device: c_int, pool: Handle);
    cudaMemPoolCreate = cuMemPoolCreate(pool: *mut Handle, properties: Ptr);
    cudaMemPoolDestroy = cuMemPoolDestroy(pool: Handle);
    cudaMemPoolGetAttribute = cuMemPoolGetAttribute(pool: Handle, attribute: c_int, value: Ptr);
    cudaMemPoolSetAttribute = cuMemPoolSetAttribute(pool: Handle, attribute: c_int, value: Ptr);
    cudaMemPoolTrimTo = cuMemPoolTrimTo(pool: Handle, bytes: usize);

    cudaDeviceSynchronize = cuCtxSynchronize();
    cudaDeviceGetAttribute = cuDeviceGetAttribute(value: *mut c_int, attribute: c_int, device: c_int);
    cudaDeviceGetPCIBusId = cuDeviceGetPCIBusId(id: *mut c_char, len: c_int, device: c_int);
    cudaDeviceGetByPCIBusId = cuDeviceGetByPCIBusId(device: *mut c_int, id: *const c_char);
    cudaDeviceGetLimit = cuCtxGetLimit(value: *mut usize, limit: c_int);
    cudaDeviceSetLimit = cuCtxSetLimit(limit: c_int, value: usize);
    cudaDeviceGetCacheConfig = cuCtxGetCacheConfig(config: *mut c_int);
    cudaDeviceSetCacheConfig = cuCtxSetCacheConfig(config: c_int);
    cudaDeviceGetSharedMemConfig = cuCtxGetSharedMemConfig(config: *mut c_int);
    cudaDeviceSetSharedMemConfig = cuCtxSetSharedMemConfig(config: c_int);
    cudaDeviceGetStreamPriorityRange = cuCtxGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int);
    cudaDeviceCanAccessPeer = cuDeviceCanAccessPeer(can: *mut c_int, device: c_int, peer: c_int);
    cudaCtxResetPersistingL2Cache = cuCtxResetPersistingL2Cache();
    cudaProfilerStart = cuProfilerStart();
    cudaProfilerStop = cuProfilerStop();

    cudaStreamCreateWithFlags = cuStreamCreate(stream: *mut Handle, flags: c_uint);
    cudaStreamCreateWithPriority = cuStreamCreateWithPriority(stream: *mut Handle, flags: c_uint, priority: c_int);
    cudaStreamDestroy = cuStreamDestroy_v2(stream: Handle);
    cudaStreamSynchronize = cuStreamSynchronize(stream: Handle);
    cudaStreamQuery = cuStreamQuery(stream: Handle);
    cudaStreamWaitEvent = cuStreamWaitEvent(stream: Handle, event: Handle, flags: c_uint);
    cudaStreamGetPriority = cuStreamGetPriority(stream: Handle, priority: *mut c_int);
    cudaStreamGetFlags = cuStreamGetFlags(stream: Handle, flags: *mut c_uint);
    cudaStreamGetId = cuStreamGetId(stream: Handle, id: *mut u64);
    cudaStreamAddCallback = cuStreamAddCallback(stream: Handle, function: Ptr, data: Ptr, flags: c_uint);
    cudaStreamAttachMemAsync = cuStreamAttachMemAsync(stream: Handle, address: Ptr, len: usize, flags: c_uint);
    cudaLaunchHostFunc = cuLaunchHostFunc(stream: Handle, function: Ptr, data: Ptr);

    cudaEventCreateWithFlags = cuEventCreate(event: *mut Handle, flags: c_uint);
    cudaEventRecord = cuEventRecord(event: Handle, stream: Handle);
    cudaEventRecordWithFlags = cuEventRecordWithFlags(event: Handle, stream: Handle, flags: c_uint);
    cudaEventQuery = cuEventQuery(event: Handle);
    cudaEventSynchronize = cuEventSynchronize(event: Handle);
    cudaEventDestroy = cuEventDestroy_v2(event: Handle);
    cudaEventElapsedTime = cuEventElapsedTime(milliseconds: *mut f32, start: Handle, end: Handle);

    cudaStreamBeginCapture = cuStreamBeginCapture_v2(stream: Handle, mode: c_int);
    cudaStreamEndCapture = cuStreamEndCapture(stream: Handle, graph: *mut Handle);
    cudaStreamIsCapturing = cuStreamIsCapturing(stream: Handle, status: *mut c_int);
    cudaThreadExchangeStreamCaptureMode = cuThreadExchangeStreamCaptureMode(mode: *mut c_int);
    cudaGraphCreate = cuGraphCreate(graph: *mut Handle, flags: c_uint);
    cudaGraphClone = cuGraphClone(clone: *mut Handle, graph: Handle);
    cudaGraphDestroy = cuGraphDestroy(graph: Handle);
    cudaGraphGetNodes = cuGraphGetNodes(graph: Handle, nodes: *mut Handle, count: *mut usize);
    cudaGraphInstantiate = cuGraphInstantiateWithFlags(exec: *mut Handle, graph: Handle, flags: u64);
    cudaGraphUpload = cuGraphUpload(exec: Handle, stream: Handle);
    cudaGraphLaunch = cuGraphLaunch(exec: Handle, stream: Handle);
    cudaGraphExecDestroy = cuGraphExecDestroy(exec: Handle);
}

// Further names for the same.
export! {
    fn cudaStreamCreate(stream: *mut Handle) {
        device::begin()?;
        cuStreamCreate(stream, 0)
    }

    fn cudaEventCreate(event: *mut Handle) {
        device::begin()?;
        cuEventCreate(event, 0)
    }

    fn cudaGraphInstantiateWithFlags(exec: *mut Handle, graph: Handle, flags: u64) {
        device::begin()?;
        cuGraphInstantiateWithFlags(exec, graph, flags)
    }

    fn cudaThreadSynchronize() {
        device::begin()?;
        cuCtxSynchronize()
    }
}
