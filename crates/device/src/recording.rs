//! What a program queues, as data: taken down in one process, and queued in another.
//!
//! The device takes it down as CUDA itself does, by capturing the stream into a graph, so nothing of it runs. Addresses stay what
//! they are: the process that records needs no memory behind them.

#![allow(unsafe_code)] // Reads the nodes of a graph, and launches what they say.

use std::ffi::{CStr, c_char, c_uint, c_void};

use cudarc::driver::sys::{self, CUgraphNodeType, CUresult, CUstreamCaptureMode};
use cudarc::driver::{DriverError, result};
use serde::{Deserialize, Serialize};

use crate::{Device, Program};

/// One thing that was queued.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Work {
    Launch(Launch),
    /// So many elements from an address on are set to a value.
    Fill {
        address: u64,
        value: u32,
        element: u32,
        count: u64,
    },
}

/// A launch of a kernel that the program has by this name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    pub kernel: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// Dynamic shared memory, and how much the kernel was allowed.
    pub shared: u32,
    pub shared_limit: i32,
    /// Whether its blocks may wait for each other.
    pub cooperative: bool,
    /// Blocks of a cluster, where the launch says so; zeros where it does not.
    pub cluster: [u32; 3],
    /// Whether it may have more of them than every GPU has room for.
    pub large_clusters: bool,
    /// The parameters as the kernel lays them out.
    pub parameters: Vec<u8>,
}

/// Why there is no list of what was queued.
#[derive(Debug)]
pub enum NotRecorded {
    /// It was something that is neither a launch nor a memset; what, in words.
    Other(&'static str),
    Driver(DriverError),
}

impl From<DriverError> for NotRecorded {
    fn from(error: DriverError) -> Self {
        Self::Driver(error)
    }
}

type ParameterInfo = unsafe extern "C" fn(sys::CUfunction, usize, *mut usize, *mut usize) -> CUresult;
type FunctionName = unsafe extern "C" fn(*mut *const c_char, sys::CUfunction) -> CUresult;

impl Device {
    /// From now on, what is queued on the stream is taken down and does not run.
    ///
    /// # Errors
    /// The driver's.
    pub fn start_recording(&self) -> Result<(), DriverError> {
        // Calls that no capture minds, such as an allocation, are looked for by the process that records.
        self.stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED)
    }

    /// What was queued since the recording was started.
    ///
    /// # Errors
    /// That there was a call in between that does not only queue, such as a wait, or that it was no launch and no memset.
    pub fn end_recording(&self) -> Result<Vec<Work>, NotRecorded> {
        // SAFETY: the stream is alive, and the graph is ours until it is destroyed below, once.
        unsafe {
            let graph = result::stream::end_capture(self.stream.cu_stream())?;
            let work = nodes(graph).and_then(|nodes| nodes.into_iter().map(|node| work(node)).collect());
            result::graph::destroy(graph)?;
            work
        }
    }

    /// Queues on the stream what was taken down elsewhere.
    ///
    /// # Errors
    /// The driver's, `CUDA_ERROR_NOT_FOUND` where the program has no such kernel.
    ///
    /// # Safety
    /// As a launch: the kernel and a fill may reach any memory of the device.
    pub unsafe fn queue(&self, program: &Program, work: &Work) -> Result<(), DriverError> {
        match work {
            // SAFETY: the caller's promise.
            Work::Launch(launch) => unsafe { self.queue_launch(program, launch) },
            &Work::Fill { address, value, element, count } => {
                let (stream, count) = (self.stream.cu_stream(), count as usize);
                self.context.bind_to_thread()?;
                // SAFETY: the caller's promise.
                let filled = unsafe {
                    match element {
                        1 => sys::cuMemsetD8Async(address, value as u8, count, stream),
                        2 => sys::cuMemsetD16Async(address, value as u16, count, stream),
                        4 => sys::cuMemsetD32Async(address, value, count, stream),
                        _ => CUresult::CUDA_ERROR_INVALID_VALUE,
                    }
                };
                filled.result()
            }
        }
    }

    unsafe fn queue_launch(&self, program: &Program, launch: &Launch) -> Result<(), DriverError> {
        if launch.kernel.contains('\0') {
            return Err(DriverError(CUresult::CUDA_ERROR_NOT_FOUND));
        }
        let kernel = program.module.load_function(&launch.kernel)?;
        let limit = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        if kernel.get_attribute(limit)? != launch.shared_limit {
            kernel.set_attribute(limit, launch.shared_limit)?;
        }
        // The driver compares the packed parameters' size with the kernel's own.
        let mut parameters = launch.parameters.clone();
        let mut size = parameters.len();
        let mut extra: [*mut c_void; 5] = [
            std::ptr::without_provenance_mut(1), // CU_LAUNCH_PARAM_BUFFER_POINTER
            parameters.as_mut_ptr().cast(),
            std::ptr::without_provenance_mut(2), // CU_LAUNCH_PARAM_BUFFER_SIZE
            (&raw mut size).cast(),
            std::ptr::null_mut(), // CU_LAUNCH_PARAM_END
        ];
        if launch.large_clusters {
            kernel.set_attribute(sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1)?;
        }
        let attribute = |id, value| sys::CUlaunchAttribute { id, pad: [0; 4], value };
        let cooperative = sys::CUlaunchAttributeValue { cooperative: launch.cooperative.into() };
        let mut attributes = vec![attribute(sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE, cooperative)];
        if launch.cluster != [0; 3] {
            let [x, y, z] = launch.cluster;
            let cluster =
                sys::CUlaunchAttributeValue { clusterDim: sys::CUlaunchAttributeValue_union__bindgen_ty_1 { x, y, z } };
            attributes.push(attribute(sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, cluster));
        }
        let ([x, y, z], [width, height, depth]) = (launch.grid, launch.block);
        let config = sys::CUlaunchConfig {
            gridDimX: x,
            gridDimY: y,
            gridDimZ: z,
            blockDimX: width,
            blockDimY: height,
            blockDimZ: depth,
            sharedMemBytes: launch.shared,
            hStream: self.stream.cu_stream(),
            attrs: attributes.as_mut_ptr(),
            numAttrs: attributes.len() as u32,
        };
        let (function, extra) = (kernel.cu_function(), extra.as_mut_ptr());
        // SAFETY: the configuration, the buffer and its size live as long as the call; the kernel's accesses are the caller's promise.
        unsafe { sys::cuLaunchKernelEx(&raw const config, function, std::ptr::null_mut(), extra) }.result()
    }
}

/// The nodes in the order in which they were made: none before what it waits for.
unsafe fn nodes(graph: sys::CUgraph) -> Result<Vec<sys::CUgraphNode>, NotRecorded> {
    let mut count = 0;
    // SAFETY: the caller's graph is alive; without room the driver only counts.
    unsafe { sys::cuGraphGetNodes(graph, std::ptr::null_mut(), &raw mut count) }.result()?;
    let mut nodes = vec![std::ptr::null_mut(); count];
    if count > 0 {
        // SAFETY: there is room for as many as were counted.
        unsafe { sys::cuGraphGetNodes(graph, nodes.as_mut_ptr(), &raw mut count) }.result()?;
    }
    Ok(nodes)
}

unsafe fn work(node: sys::CUgraphNode) -> Result<Work, NotRecorded> {
    let mut kind = CUgraphNodeType::CU_GRAPH_NODE_TYPE_EMPTY;
    // SAFETY: the node is of a living graph, here and below.
    unsafe { sys::cuGraphNodeGetType(node, &raw mut kind) }.result()?;
    match kind {
        // SAFETY: as above.
        CUgraphNodeType::CU_GRAPH_NODE_TYPE_KERNEL => unsafe { launch(node) }.map(Work::Launch),
        CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEMSET => {
            // SAFETY: plain numbers, for which all zeros is a value.
            let mut fill: sys::CUDA_MEMSET_NODE_PARAMS = unsafe { std::mem::zeroed() };
            // SAFETY: as above.
            unsafe { sys::cuGraphMemsetNodeGetParams(node, &raw mut fill) }.result()?;
            match fill.height {
                1 => Ok(Work::Fill {
                    address: fill.dst,
                    value: fill.value,
                    element: fill.elementSize,
                    count: fill.width as u64,
                }),
                _ => Err(NotRecorded::Other("sets memory in several rows")),
            }
        }
        CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEMCPY => Err(NotRecorded::Other("copies memory")),
        CUgraphNodeType::CU_GRAPH_NODE_TYPE_HOST => Err(NotRecorded::Other("calls the host")),
        CUgraphNodeType::CU_GRAPH_NODE_TYPE_GRAPH => Err(NotRecorded::Other("launches a graph")),
        CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEM_ALLOC => Err(NotRecorded::Other("allocates memory")),
        _ => Err(NotRecorded::Other("queues something that is neither a launch nor a memset")),
    }
}

unsafe fn launch(node: sys::CUgraphNode) -> Result<Launch, NotRecorded> {
    // SAFETY: numbers and pointers, for which all zeros is a value; the driver fills them in.
    let mut node_params: sys::CUDA_KERNEL_NODE_PARAMS = unsafe { std::mem::zeroed() };
    // SAFETY: the node is of a living graph.
    unsafe { sys::cuGraphKernelNodeGetParams_v2(node, &raw mut node_params) }.result()?;
    let function = node_params.func;
    // SAFETY: the driver was opened with the device. Both functions have these signatures since CUDA 12.4; the emulated driver has them.
    let (name, info) = unsafe {
        let library = sys::culib();
        let missing = |_| DriverError(CUresult::CUDA_ERROR_NOT_SUPPORTED);
        let name = *library.get::<FunctionName>(b"cuFuncGetName\0").map_err(missing)?;
        (name, *library.get::<ParameterInfo>(b"cuFuncGetParamInfo\0").map_err(missing)?)
    };
    // SAFETY: as above; a union of numbers.
    let mut value: sys::CUkernelNodeAttrValue = unsafe { std::mem::zeroed() };
    let cooperative = sys::CUkernelNodeAttrID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    // SAFETY: the node is a kernel's, and the value is written whole.
    let cooperative = unsafe {
        sys::cuGraphKernelNodeGetAttribute(node, cooperative, &raw mut value).result()?;
        value.cooperative != 0
    };
    let cluster = sys::CUkernelNodeAttrID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    // SAFETY: as above. Drivers from before there were clusters do not know the attribute, and the value stays as it was: zeros.
    let cluster = unsafe {
        value = std::mem::zeroed();
        match sys::cuGraphKernelNodeGetAttribute(node, cluster, &raw mut value) {
            CUresult::CUDA_SUCCESS => [value.clusterDim.x, value.clusterDim.y, value.clusterDim.z],
            _ => [0; 3],
        }
    };
    let mut large = 0;
    let mut text: *const c_char = std::ptr::null();
    let mut parameters = Vec::new();
    let mut limit = 0;
    let attribute = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    // SAFETY: the function is that of a launch that was captured. Its name is a C string that lives as long as the module; the node has an
    // address for each parameter, where as many bytes are as the driver says.
    unsafe {
        name(&raw mut text, function).result()?;
        sys::cuFuncGetAttribute(&raw mut limit, attribute, function).result()?;
        let allowed = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED;
        // An older driver has no such attribute, and no such launch.
        let _ = sys::cuFuncGetAttribute(&raw mut large, allowed, function);
        let (mut index, mut offset, mut size) = (0, 0, 0);
        while info(function, index, &raw mut offset, &raw mut size) == CUresult::CUDA_SUCCESS {
            let address: *const u8 = (*node_params.kernelParams.add(index)).cast();
            parameters.resize(offset, 0);
            parameters.extend_from_slice(std::slice::from_raw_parts(address, size));
            index += 1;
        }
    }
    let triple = |x: c_uint, y: c_uint, z: c_uint| [x, y, z];
    Ok(Launch {
        // SAFETY: as above.
        kernel: unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned(),
        grid: triple(node_params.gridDimX, node_params.gridDimY, node_params.gridDimZ),
        block: triple(node_params.blockDimX, node_params.blockDimY, node_params.blockDimZ),
        shared: node_params.sharedMemBytes,
        shared_limit: limit,
        cooperative,
        cluster,
        large_clusters: large != 0,
        parameters,
    })
}
