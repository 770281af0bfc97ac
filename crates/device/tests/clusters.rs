//! Clusters of blocks, as a program launches them: CUDA C++ through NVRTC, and `cuLaunchKernelEx`. Needs NVRTC, and passes without a word
//! where there is none.

#![allow(unsafe_code, clippy::unwrap_used, reason = "a test, which launches kernels by the driver's own functions")]

use std::ffi::c_void;

use cudarc::driver::sys::{self, CUfunction_attribute as Attribute, CUlaunchAttributeID as Id, CUresult::*};
use cudarc::driver::{CudaFunction, DevicePtr};
use fusion_device::{Choice, Device, EmulatorOptions, Options, Program, Source};
use fusion_machine::Checks;

const SOURCE: &str = r#"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// The sum of each row of `columns` elements, by a cluster of blocks.
extern "C" __global__ void row_sums(const float* x, float* sums, unsigned columns) {
    __shared__ float part;
    cg::cluster_group cluster = cg::this_cluster();
    unsigned blocks = cluster.num_blocks(), rank = cluster.block_rank();
    const float4* row = (const float4*)(x + (size_t)(blockIdx.x / blocks) * columns);
    float sum = 0.0f;
    for (unsigned i = rank * blockDim.x + threadIdx.x; i < columns / 4; i += blocks * blockDim.x) {
        float4 v = row[i];
        sum += v.x + v.y + v.z + v.w;
    }
    for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_xor_sync(~0u, sum, apart);
    if (threadIdx.x == 0) part = 0.0f;
    __syncthreads();
    if (threadIdx.x % 32 == 0) atomicAdd(&part, sum);
    cluster.sync();
    if (rank == 0 && threadIdx.x == 0) {
        float total = 0.0f;
        for (unsigned other = 0; other < blocks; other++) total += *cluster.map_shared_rank(&part, other);
        sums[blockIdx.x / blocks] = total;
    }
    cluster.sync();
}

// Each block hands what it has to the next one of its cluster, whose mbarrier counts the bytes.
extern "C" __global__ void __cluster_dims__(4) pass_on(const float* x, float* y) {
    __shared__ float slots[64];
    __shared__ unsigned long long bar;
    cg::cluster_group cluster = cg::this_cluster();
    unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks(), t = threadIdx.x, i = blockIdx.x * 64 + t;
    unsigned here = (unsigned)__cvta_generic_to_shared(&bar), slot = (unsigned)__cvta_generic_to_shared(slots + t);
    unsigned there, to, done = 0;
    if (t == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(here) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;" :: "r"(here) : "memory");
    }
    cluster.sync();
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(next));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(slot), "r"(next));
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], %1, [%2];"
                 :: "r"(to), "f"(x[i]), "r"(there) : "memory");
    while (!done) {
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; selp.b32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(here) : "memory");
    }
    y[i] = slots[t];
    cluster.sync();
}
"#;

const COLUMNS: u32 = 128 << 10;
const ROWS: u32 = 3;

struct Clusters {
    device: Device,
    program: Program,
}

/// The emulated device with all checks, and the kernels.
fn open() -> Option<Clusters> {
    let toolchain = fusion_toolchain::find().ok()?;
    let checks = Checks { performance: false, arithmetic: false, ..Checks::default() };
    let device =
        Device::open_with(Choice::Emulated, &EmulatorOptions { checks: Some(checks), ..Default::default() }).unwrap();
    device.use_toolchain(&toolchain).unwrap();
    let program = device.compile(&Source { name: "k.cu", text: SOURCE }, &[], &Options::default()).unwrap();
    Some(Clusters { device, program })
}

impl Clusters {
    fn launch(
        &self,
        kernel: &CudaFunction,
        (blocks, threads): (u32, u32),
        cluster: u32,
        arguments: &mut [*mut c_void],
    ) -> sys::CUresult {
        let mut value = sys::CUlaunchAttributeValue { pad: [0; 64] };
        value.clusterDim = sys::CUlaunchAttributeValue_union__bindgen_ty_1 { x: cluster, y: 1, z: 1 };
        let mut spread = sys::CUlaunchAttributeValue { pad: [0; 64] };
        spread.clusterSchedulingPolicyPreference = sys::CUclusterSchedulingPolicy::CU_CLUSTER_SCHEDULING_POLICY_SPREAD;
        let mut attributes = [
            sys::CUlaunchAttribute { id: Id::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, pad: [0; 4], value },
            sys::CUlaunchAttribute {
                id: Id::CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
                pad: [0; 4],
                value: spread,
            },
        ];
        let config = self.config((blocks, threads), &mut attributes);
        // SAFETY: the arguments are those of the kernel.
        unsafe { sys::cuLaunchKernelEx(&config, kernel.cu_function(), arguments.as_mut_ptr(), std::ptr::null_mut()) }
    }

    fn config(&self, (blocks, threads): (u32, u32), attributes: &mut [sys::CUlaunchAttribute]) -> sys::CUlaunchConfig {
        sys::CUlaunchConfig {
            gridDimX: blocks,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: threads,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: 0,
            hStream: self.device.stream.cu_stream(),
            attrs: attributes.as_mut_ptr(),
            numAttrs: attributes.len() as u32,
        }
    }

    fn findings(&self) -> Vec<String> {
        let report = self.device.emulator().unwrap().take_report().unwrap();
        let found = report.launches.into_iter().flat_map(|launch| launch.findings);
        report.faults.into_iter().chain(found).map(|fault| format!("{:?}", fault.kind)).collect()
    }
}

#[test]
fn clusters_of_blocks() {
    let Some(it) = open() else { return };
    let stream = it.device.stream.clone();
    let kernel = it.program.kernel("row_sums").unwrap();

    // Rows of 128K elements, a cluster of eight blocks for each.
    let x: Vec<f32> = (0..ROWS * COLUMNS).map(|i| (i % 7) as f32).collect();
    let (dx, mut sums) = (stream.clone_htod(&x).unwrap(), stream.alloc_zeros::<f32>(ROWS as usize).unwrap());
    let mut columns = COLUMNS;
    let mut run = |blocks: u32, cluster: u32| {
        let (mut from, mut to) = (dx.device_ptr(&stream).0, sums.device_ptr(&stream).0);
        let mut arguments = [(&raw mut from).cast(), (&raw mut to).cast(), (&raw mut columns).cast()];
        it.launch(&kernel, (blocks, 64), cluster, &mut arguments)
    };
    assert_eq!(run(8 * ROWS, 8), CUDA_SUCCESS);
    let expected: Vec<f32> = x.chunks(COLUMNS as usize).map(|row| row.iter().sum()).collect();
    assert_eq!(stream.clone_dtoh(&sums).unwrap(), expected);
    assert_eq!(it.findings(), Vec::<String>::new());

    // What no launch may ask for, and what a kernel must be allowed first.
    assert_eq!(run(8 * ROWS + 1, 8), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    assert_eq!(run(32, 16), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    kernel.set_attribute(Attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1).unwrap();
    assert_eq!(run(16, 16), CUDA_SUCCESS);
    assert_eq!(run(64, 32), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    drop(it.findings());
    stream.memset_zeros(&mut sums).unwrap();

    // A kernel that says how many blocks its clusters have.
    let kernel = it.program.kernel("pass_on").unwrap();
    assert_eq!(kernel.get_attribute(Attribute::CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET).unwrap(), 1);
    assert_eq!(kernel.get_attribute(Attribute::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH).unwrap(), 4);
    assert_eq!(kernel.get_attribute(Attribute::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH).unwrap(), 1);
    let (mut most, mut active) = (0, 0);
    let config = it.config((8, 64), &mut []);
    // SAFETY: the pointers are valid.
    unsafe {
        assert_eq!(sys::cuOccupancyMaxPotentialClusterSize(&mut most, kernel.cu_function(), &config), CUDA_SUCCESS);
        assert_eq!(sys::cuOccupancyMaxActiveClusters(&mut active, kernel.cu_function(), &config), CUDA_SUCCESS);
    }
    assert_eq!((most, active), (8, 8 * 120 / 4));
    let y = stream.alloc_zeros::<f32>(512).unwrap();
    let (mut from, mut to) = (dx.device_ptr(&stream).0, y.device_ptr(&stream).0);
    let mut arguments = [(&raw mut from).cast(), (&raw mut to).cast()];
    assert_eq!(it.launch(&kernel, (8, 64), 2, &mut arguments), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    assert_eq!(it.launch(&kernel, (8, 64), 4, &mut arguments), CUDA_SUCCESS);
    let before = |i: usize| i / 256 * 256 + (i + 192) % 256;
    let handed: Vec<f32> = (0..512).map(|i| x[before(i)]).collect();
    assert_eq!(stream.clone_dtoh(&y).unwrap(), handed);
    drop(it.findings());

    // A graph keeps the attribute.
    stream.begin_capture(sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED).unwrap();
    let kernel = it.program.kernel("row_sums").unwrap();
    let (mut from, mut to, mut columns) = (dx.device_ptr(&stream).0, y.device_ptr(&stream).0, COLUMNS);
    let mut arguments = [(&raw mut from).cast(), (&raw mut to).cast(), (&raw mut columns).cast()];
    assert_eq!(it.launch(&kernel, (8 * ROWS, 64), 8, &mut arguments), CUDA_SUCCESS);
    let graph = stream.end_capture(sys::CUgraphInstantiate_flags(0)).unwrap().unwrap();
    graph.launch().unwrap();
    assert_eq!(stream.clone_dtoh(&y).unwrap()[..ROWS as usize], expected);
    assert_eq!(it.findings(), Vec::<String>::new());
}
