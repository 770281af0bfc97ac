//! A product of matrices by `wgmma`, from CUDA C++ with inline PTX through NVRTC: threads write the tiles with the
//! swizzle of 128 bytes. Needs NVRTC, and passes without a word where there is none.

#![allow(unsafe_code, clippy::unwrap_used, reason = "a test, which launches a kernel")]

use cudarc::driver::{LaunchConfig, PushKernelArg};
use fusion_device::{Choice, Device, EmulatorOptions, Options, Source, Timer};
use fusion_machine::Checks;

const M: usize = 128;
const N: usize = 256;
const K: usize = 192;

fn source() -> String {
    let registers: Vec<String> = (0..64).map(|i| format!("%{i}")).collect();
    let sums: Vec<String> = (0..64).map(|i| format!("\"+f\"(d[{i}])")).collect();
    GEMM.replace("REGISTERS", &registers.join(", ")).replace("SUMS", &sums.join(", "))
}

/// Blocks of 64 rows and 128 columns, tiles of 64 columns of K.
const GEMM: &str = r#"
#ifndef __CUDA_ARCH_FEAT_SM90_ALL
#error "compiled for an architecture without wgmma"
#endif
#include <cuda_bf16.h>
constexpr int M = 128, N = 256, K = 192, BM = 64, BN = 128, BK = 64;

// A row of 128 bytes has eight pieces of 16: the number of a piece is changed by the row's.
__device__ int place(int row, int column) {
    return row * BK + (column / 8 ^ row % 8) * 8 + column % 8;
}

__device__ unsigned long long descriptor(const void* p) {
    unsigned at = (unsigned)__cvta_generic_to_shared(p);
    return at >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

__device__ void multiply(float (&d)[64], unsigned long long a, unsigned long long b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {REGISTERS}, %64, %65, 1, 1, 1, 0, 0;"
                 : SUMS : "l"(a), "l"(b));
}

extern "C" __global__ void __launch_bounds__(128) gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c) {
    __shared__ __align__(1024) __nv_bfloat16 ta[BM * BK];
    __shared__ __align__(1024) __nv_bfloat16 tb[BN * BK];
    int t = threadIdx.x, row = blockIdx.y * BM, column = blockIdx.x * BN;
    float d[64] = {};
    for (int k = 0; k < K; k += BK) {
        for (int i = t; i < BM * BK; i += 128) ta[place(i / BK, i % BK)] = a[(row + i / BK) * K + k + i % BK];
        for (int i = t; i < BN * BK; i += 128) tb[place(i / BK, i % BK)] = b[(column + i / BK) * K + k + i % BK];
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int j = 0; j < BK; j += 16) multiply(d, descriptor(ta + j), descriptor(tb + j));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        __syncthreads();
    }
    for (int i = 0; i < 64; i++) {
        int r = row + t / 32 * 16 + t % 32 / 4 + i / 2 % 2 * 8, n = column + i / 4 * 8 + t % 4 * 2 + i % 2;
        c[r * N + n] = d[i];
    }
}
"#;

/// A small integer, which every format and every sum here has exactly.
fn value(row: usize, column: usize) -> f32 {
    ((row * 7 + column * 13 + row * column % 5) % 7) as f32 - 3.0
}

/// Upper half of f32: exact for small integers.
fn bf16(matrix: &[f32]) -> Vec<u16> {
    matrix.iter().map(|x| (x.to_bits() >> 16) as u16).collect()
}

#[test]
fn a_product_of_swizzled_tiles() {
    let Ok(toolchain) = fusion_toolchain::find() else { return };
    let checks = Checks { performance: false, arithmetic: false, ..Checks::default() };
    let options = EmulatorOptions { checks: Some(checks), ..EmulatorOptions::default() };
    let device = Device::open_with(Choice::Emulated, &options).unwrap();
    device.use_toolchain(&toolchain).unwrap();
    let text = source();
    let program = device.compile(&Source { name: "gemm.cu", text: &text }, &[], &Options::default()).unwrap();
    let kernel = program.kernel("gemm").unwrap();

    let matrix = |rows: usize, add: usize| -> Vec<f32> { (0..rows * K).map(|i| value(i / K + add, i % K)).collect() };
    let (a, b) = (matrix(M, 0), matrix(N, 3));
    let stream = device.stream.clone();
    let (da, db) = (stream.clone_htod(&bf16(&a)).unwrap(), stream.clone_htod(&bf16(&b)).unwrap());
    let mut c = stream.alloc_zeros::<f32>(M * N).unwrap();
    let config = LaunchConfig { grid_dim: (2, 2, 1), block_dim: (128, 1, 1), shared_mem_bytes: 0 };
    let timer = Timer::new(&stream).unwrap();
    timer.start().unwrap();
    // SAFETY: the arguments are those of the kernel, and the matrices have the sizes that it has.
    unsafe { stream.launch_builder(&kernel).arg(&da).arg(&db).arg(&mut c).launch(config) }.unwrap();
    timer.stop().unwrap();
    // The clock knows the instruction: a launch of so little work takes some microseconds.
    let milliseconds = timer.elapsed_ms().unwrap();
    assert!((0.002..0.1).contains(&milliseconds), "{milliseconds}");
    let found = stream.clone_dtoh(&c).unwrap();
    for (at, found) in found.iter().enumerate() {
        let (row, column) = (at / N, at % N);
        let expected: f32 = (0..K).map(|k| a[row * K + k] * b[column * K + k]).sum();
        assert_eq!(*found, expected, "row {row}, column {column}");
    }
    let report = device.emulator().unwrap().take_report().unwrap();
    assert!(report.faults.is_empty() && report.launches[0].findings.is_empty(), "{report:?}");
    assert_eq!(report.launches[0].counters.tensor_operations, (2 * M * N * K) as u64);
}
