//! What programs call that are built with a default stream for each thread (`nvcc --default-stream per-thread`): the same functions, for
//! which stream 0 is the calling thread's. Those that wait for a copy wait for that stream only.

use std::ffi::{c_int, c_uint};

use crate::boundary::{Handle, Ptr, export, get};
use crate::copy::{linear, place, rows};
use crate::error::Result;
use crate::forward::cuStreamSynchronize;
use crate::launch::{self, Dim3, LaunchConfig};
use crate::{device, memory};

/// `cudaStreamPerThread`.
const PER_THREAD: Handle = std::ptr::without_provenance_mut(2);

/// The stream that a program means by it.
fn own(stream: Handle) -> Handle {
    if stream.is_null() { PER_THREAD } else { stream }
}

/// After work on the thread's stream: waits until it is done.
fn done(queued: Result) -> Result {
    queued?;
    device::begin()?;
    cuStreamSynchronize(PER_THREAD)
}

/// `cudaX_ptsz = module::cudaX(arguments before; stream; arguments behind)`.
macro_rules! with_own_stream {
    ($($name:ident = $module:ident::$function:ident(
        $($before:ident: $before_type:ty),*; stream; $($behind:ident: $behind_type:ty),*
    );)*) => {$(
        #[allow(non_snake_case, clippy::too_many_arguments)]
        #[unsafe(no_mangle)]
        extern "C" fn $name($($before: $before_type,)* stream: Handle $(, $behind: $behind_type)*) -> u32 {
            crate::$module::$function($($before,)* own(stream) $(, $behind)*)
        }
    )*};
}

with_own_stream! {
    cudaMemcpyAsync_ptsz = copy::cudaMemcpyAsync(dst: Ptr, src: Ptr, count: usize, kind: c_int; stream;);
    cudaMemcpy2DAsync_ptsz = copy::cudaMemcpy2DAsync(
        dst: Ptr, dst_pitch: usize, src: Ptr, src_pitch: usize, width: usize, height: usize, kind: c_int; stream;
    );
    cudaMemcpyToSymbolAsync_ptsz = copy::cudaMemcpyToSymbolAsync(
        symbol: Ptr, src: Ptr, count: usize, offset: usize, kind: c_int; stream;
    );
    cudaMemcpyFromSymbolAsync_ptsz = copy::cudaMemcpyFromSymbolAsync(
        dst: Ptr, symbol: Ptr, count: usize, offset: usize, kind: c_int; stream;
    );
    cudaMemsetAsync_ptsz = memory::cudaMemsetAsync(address: Ptr, value: c_int, count: usize; stream;);
    cudaMemset2DAsync_ptsz = memory::cudaMemset2DAsync(
        address: Ptr, pitch: usize, value: c_int, width: usize, height: usize; stream;
    );
    cudaMallocAsync_ptsz = forward::cudaMallocAsync(out: *mut Ptr, size: usize; stream;);
    cudaMallocFromPoolAsync_ptsz = forward::cudaMallocFromPoolAsync(out: *mut Ptr, size: usize, pool: Handle; stream;);
    cudaFreeAsync_ptsz = forward::cudaFreeAsync(address: Ptr; stream;);
    cudaLaunchKernel_ptsz = launch::cudaLaunchKernel(
        function: Ptr, grid: Dim3, block: Dim3, params: *mut Ptr, shared: usize; stream;
    );
    __cudaLaunchKernel_ptsz = launch::__cudaLaunchKernel(
        kernel: Ptr, grid: Dim3, block: Dim3, params: *mut Ptr, shared: usize; stream;
    );
    cudaLaunchCooperativeKernel_ptsz = launch::cudaLaunchCooperativeKernel(
        function: Ptr, grid: Dim3, block: Dim3, params: *mut Ptr, shared: usize; stream;
    );
    cudaLaunchHostFunc_ptsz = forward::cudaLaunchHostFunc(; stream; function: Ptr, data: Ptr);
    cudaStreamSynchronize_ptsz = forward::cudaStreamSynchronize(; stream;);
    cudaStreamQuery_ptsz = forward::cudaStreamQuery(; stream;);
    cudaStreamWaitEvent_ptsz = forward::cudaStreamWaitEvent(; stream; event: Handle, flags: c_uint);
    cudaStreamGetPriority_ptsz = forward::cudaStreamGetPriority(; stream; priority: *mut c_int);
    cudaStreamGetFlags_ptsz = forward::cudaStreamGetFlags(; stream; flags: *mut c_uint);
    cudaStreamGetId_ptsz = forward::cudaStreamGetId(; stream; id: *mut u64);
    cudaStreamAddCallback_ptsz = forward::cudaStreamAddCallback(; stream; function: Ptr, data: Ptr, flags: c_uint);
    cudaStreamAttachMemAsync_ptsz = forward::cudaStreamAttachMemAsync(; stream; address: Ptr, len: usize, flags: c_uint);
    cudaStreamBeginCapture_ptsz = forward::cudaStreamBeginCapture(; stream; mode: c_int);
    cudaStreamEndCapture_ptsz = forward::cudaStreamEndCapture(; stream; graph: *mut Handle);
    cudaStreamIsCapturing_ptsz = forward::cudaStreamIsCapturing(; stream; status: *mut c_int);
    cudaEventRecord_ptsz = forward::cudaEventRecord(event: Handle; stream;);
    cudaEventRecordWithFlags_ptsz = forward::cudaEventRecordWithFlags(event: Handle; stream; flags: c_uint);
    cudaGraphUpload_ptsz = forward::cudaGraphUpload(exec: Handle; stream;);
    cudaGraphLaunch_ptsz = forward::cudaGraphLaunch(exec: Handle; stream;);
}

export! {
    fn cudaMemcpy_ptds(dst: Ptr, src: Ptr, count: usize, kind: c_int) {
        done(linear(dst, src, count, kind, Some(PER_THREAD)))
    }

    fn cudaMemcpy2D_ptds(
        dst: Ptr,
        dst_pitch: usize,
        src: Ptr,
        src_pitch: usize,
        width: usize,
        height: usize,
        kind: c_int,
    ) {
        done(rows((dst, dst_pitch), (src, src_pitch), width, height, kind, Some(PER_THREAD)))
    }

    fn cudaMemcpyToSymbol_ptds(symbol: Ptr, src: Ptr, count: usize, offset: usize, kind: c_int) {
        done(linear(place(symbol, offset, count)?, src, count, kind, Some(PER_THREAD)))
    }

    fn cudaMemcpyFromSymbol_ptds(dst: Ptr, symbol: Ptr, count: usize, offset: usize, kind: c_int) {
        done(linear(dst, place(symbol, offset, count)?, count, kind, Some(PER_THREAD)))
    }

    fn cudaMemset_ptds(address: Ptr, value: c_int, count: usize) {
        memory::fill(address, value, count, Some(PER_THREAD))
    }

    fn cudaMemset2D_ptds(address: Ptr, pitch: usize, value: c_int, width: usize, height: usize) {
        memory::fill_rows(address, pitch, value, width, height, Some(PER_THREAD))
    }

    fn cudaLaunchKernelExC_ptsz(config: *const LaunchConfig, function: Ptr, params: *mut Ptr) {
        let mut config = get(config)?;
        config.stream = own(config.stream);
        launch::extended(config, function, params)
    }

    fn cudaMemPrefetchAsync_ptsz() {
        device::begin()
    }
}
