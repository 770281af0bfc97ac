// Loads of 8 and 16 bytes from shared memory of which groups of lanes want the same: which lanes share a pass through the banks.
// calibration
// sweep: steps = 64; block = 256 1024; lanes = 1 2 4 8 16 32
// launch: shared_fours_by<<<132, {block}>>>(y: f32[1], lanes: i32 = {lanes}, steps: i32 = {steps})
// launch: shared_twos_by<<<132, {block}>>>(y: f32[1], lanes: i32 = {lanes}, steps: i32 = {steps})
// sweep: steps = 64; block = 32 256 1024; bins = 1 32 1024
// launch: add_own_shared<<<132, {block}>>>(y: i32[1], mask: u32 = {bins - 1}, steps: i32 = {steps})
// sweep: steps = 64; block = 32 128 512 1024
// launch: chain_hash<<<132, {block}>>>(y: u32[1] uninit, a: u32 = 77, steps: i32 = {steps})
// launch: chain_half_convert<<<132, {block}>>>(y: f32[1] uninit, a: f32 = 0.9, steps: i32 = {steps})
// launch: chain_parity<<<132, {block}>>>(y: u32[1] uninit, steps: i32 = {steps})
// launch: chain_sigmoid<<<132, {block}>>>(y: f32[1] uninit, a: f32 = 0.9, steps: i32 = {steps})
#include <cuda_bf16.h>

// So many neighbouring lanes want the same.
template <typename T>
__device__ void by(float* y, int lanes, int steps) {
    __shared__ T s[1024];
    float* words = (float*)s;
    for (int i = threadIdx.x; i < 1024 * sizeof(T) / 4; i += blockDim.x) words[i] = i;
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < steps; k++) {
#pragma unroll
        for (int u = 0; u < 8; u++) {
            T v = s[(threadIdx.x / lanes + u * 32) % 1024];
            sum += v.x * v.y;
        }
        __syncthreads();
    }
    if (sum == 12345.678f) *y = sum;
}
extern "C" __global__ void shared_fours_by(float* y, int lanes, int steps) { by<float4>(y, lanes, steps); }
extern "C" __global__ void shared_twos_by(float* y, int lanes, int steps) { by<float2>(y, lanes, steps); }
// What is added is no constant, which the assembler would make a count of lanes.
extern "C" __global__ void add_own_shared(int* y, unsigned mask, int steps) {
    __shared__ int bins[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) bins[i] = 0;
    __syncthreads();
    for (int k = 0; k < steps; k++) atomicAdd(&bins[(threadIdx.x * 7 + k) & mask], k + threadIdx.x);
    __syncthreads();
    if (bins[0] == -1) *y = 1;
}
extern "C" __global__ void chain_hash(unsigned* y, unsigned a, int steps) {
    unsigned v = threadIdx.x;
    for (int k = 0; k < steps; k++) {
#pragma unroll
        for (int u = 0; u < 4; u++) {
            v ^= v >> 13;
            v *= 0x5bd1e995u;
            v ^= v << 5;
            v += a;
        }
    }
    if (v == 12345) *y = v;
}
extern "C" __global__ void chain_half_convert(float* y, float a, int steps) {
    float v = threadIdx.x;
    for (int k = 0; k < steps; k++) {
#pragma unroll
        for (int u = 0; u < 16; u++) v = __bfloat162float(__float2bfloat16(v)) * a;
    }
    if (v == 12345.0f) *y = v;
}
extern "C" __global__ void chain_parity(unsigned* y, int steps) {
    unsigned v = threadIdx.x, odd = 0;
    for (int k = 0; k < 16 * steps; k++) {
        if (v & 1) {
            v = v * 5 + 1;
            odd++;
        } else {
            v = v / 2 + 3;
        }
    }
    if (odd == 12345) *y = v;
}
extern "C" __global__ void chain_sigmoid(float* y, float a, int steps) {
    float v = 0.01f * threadIdx.x;
    for (int k = 0; k < steps; k++) {
#pragma unroll
        for (int u = 0; u < 8; u++) v = a / (1.0f + __expf(-v));
    }
    if (v == 12345.0f) *y = v;
}
