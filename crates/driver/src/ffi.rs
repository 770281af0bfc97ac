//! The few C types of the driver API that the emulator looks into, named as `cuda.h` names them.

use std::ffi::{c_char, c_int, c_uint, c_void};

use crate::boundary::Raw;

/// A handle (`CUcontext`, `CUstream`, ...): a pointer to the caller, a key of a table here.
pub(crate) type Handle = usize;
/// `CUdeviceptr`.
pub(crate) type DevicePtr = u64;
/// `CUdevice`.
pub(crate) type Device = c_int;

/// `CUhostFn`.
pub(crate) type HostFn = Option<unsafe extern "C" fn(*mut c_void)>;
/// `CUstreamCallback`.
pub(crate) type StreamCallback = Option<unsafe extern "C" fn(Handle, u32, *mut c_void)>;
/// `CUoccupancyB2DSize`.
pub(crate) type BlockToShared = Option<unsafe extern "C" fn(c_int) -> usize>;

/// `CUuuid`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Uuid(pub(crate) [u8; 16]);

/// `CUmemLocation`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct MemLocation {
    pub(crate) kind: c_int,
    pub(crate) id: c_int,
}

/// `CUmemAccessDesc`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct MemAccessDesc {
    pub(crate) location: MemLocation,
    pub(crate) flags: c_int,
}

/// `CUmemPoolProps`, as far as the location; what follows is not looked at.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct MemPoolProps {
    pub(crate) alloc_type: c_int,
    pub(crate) handle_types: c_int,
    pub(crate) location: MemLocation,
}

/// `CUdevprop`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct DevProp {
    pub(crate) max_threads_per_block: c_int,
    pub(crate) max_threads_dim: [c_int; 3],
    pub(crate) max_grid_size: [c_int; 3],
    pub(crate) shared_mem_per_block: c_int,
    pub(crate) total_constant_memory: c_int,
    pub(crate) simd_width: c_int,
    pub(crate) mem_pitch: c_int,
    pub(crate) regs_per_block: c_int,
    pub(crate) clock_rate: c_int,
    pub(crate) texture_align: c_int,
}

/// `CU_MEMORYTYPE_*`.
pub(crate) const MEMORYTYPE_HOST: c_int = 1;
pub(crate) const MEMORYTYPE_DEVICE: c_int = 2;
pub(crate) const MEMORYTYPE_UNIFIED: c_int = 4;

/// `CUDA_MEMCPY2D`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Memcpy2D {
    pub(crate) src_x: usize,
    pub(crate) src_y: usize,
    pub(crate) src_type: c_int,
    pub(crate) src_host: Raw,
    pub(crate) src_device: DevicePtr,
    pub(crate) src_array: Handle,
    pub(crate) src_pitch: usize,
    pub(crate) dst_x: usize,
    pub(crate) dst_y: usize,
    pub(crate) dst_type: c_int,
    pub(crate) dst_host: Raw,
    pub(crate) dst_device: DevicePtr,
    pub(crate) dst_array: Handle,
    pub(crate) dst_pitch: usize,
    pub(crate) width: usize,
    pub(crate) height: usize,
}

/// `CUDA_MEMCPY3D`, and `CUDA_MEMCPY3D_PEER`, which has contexts where this has reserved fields.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Memcpy3D {
    pub(crate) src_x: usize,
    pub(crate) src_y: usize,
    pub(crate) src_z: usize,
    pub(crate) src_lod: usize,
    pub(crate) src_type: c_int,
    pub(crate) src_host: Raw,
    pub(crate) src_device: DevicePtr,
    pub(crate) src_array: Handle,
    pub(crate) src_context: Handle,
    pub(crate) src_pitch: usize,
    pub(crate) src_height: usize,
    pub(crate) dst_x: usize,
    pub(crate) dst_y: usize,
    pub(crate) dst_z: usize,
    pub(crate) dst_lod: usize,
    pub(crate) dst_type: c_int,
    pub(crate) dst_host: Raw,
    pub(crate) dst_device: DevicePtr,
    pub(crate) dst_array: Handle,
    pub(crate) dst_context: Handle,
    pub(crate) dst_pitch: usize,
    pub(crate) dst_height: usize,
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) depth: usize,
}

/// `CUlaunchConfig`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct LaunchConfig {
    pub(crate) grid: [c_uint; 3],
    pub(crate) block: [c_uint; 3],
    pub(crate) shared_bytes: c_uint,
    pub(crate) stream: Handle,
    pub(crate) attrs: Raw,
    pub(crate) num_attrs: c_uint,
}

/// `CUlaunchAttribute`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct LaunchAttribute {
    pub(crate) id: c_uint,
    pub(crate) pad: [c_char; 4],
    /// A union of 64 bytes.
    pub(crate) value: [u64; 8],
}

/// `CUDA_KERNEL_NODE_PARAMS_v1`, with which version 2 begins.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct KernelNodeParams {
    pub(crate) function: Handle,
    pub(crate) grid: [c_uint; 3],
    pub(crate) block: [c_uint; 3],
    pub(crate) shared_bytes: c_uint,
    pub(crate) kernel_params: Raw,
    pub(crate) extra: Raw,
}

/// `CUDA_KERNEL_NODE_PARAMS_v2`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct KernelNodeParamsV2 {
    pub(crate) base: KernelNodeParams,
    pub(crate) kernel: Handle,
    pub(crate) context: Handle,
}

/// `CUDA_MEMSET_NODE_PARAMS`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct MemsetNodeParams {
    pub(crate) dst: DevicePtr,
    pub(crate) pitch: usize,
    pub(crate) value: c_uint,
    pub(crate) element_size: c_uint,
    pub(crate) width: usize,
    pub(crate) height: usize,
}

/// `CUDA_HOST_NODE_PARAMS`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct HostNodeParams {
    pub(crate) function: HostFn,
    pub(crate) user_data: Raw,
}

/// `CUDA_GRAPH_INSTANTIATE_PARAMS`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct GraphInstantiateParams {
    pub(crate) flags: u64,
    pub(crate) upload_stream: Handle,
    pub(crate) error_node: Handle,
    pub(crate) result: c_int,
}

/// `CUgraphExecUpdateResultInfo`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct GraphExecUpdateResultInfo {
    pub(crate) result: c_int,
    pub(crate) error_node: Handle,
    pub(crate) error_from_node: Handle,
}
