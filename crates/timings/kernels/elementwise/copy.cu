// Copies: what an access of each width costs when nothing is computed.
// sweep: elements
// launch: copy_f32<<<{ceil(n, block)}, {block}>>>(x: f32[{n}], y: f32[{n}] uninit, n: u64 = {n})
// launch: copy_bf16<<<{ceil(n, block)}, {block}>>>(x: bf16[{n}], y: bf16[{n}] uninit, n: u64 = {n})
// launch: copy_i8<<<{ceil(n, block)}, {block}>>>(x: i8[{n}], y: i8[{n}] uninit, n: u64 = {n})
// sweep: elements
// launch: copy_f32x4<<<{ceil(n, 4 * block)}, {block}>>>(x: f32[{n}], y: f32[{n}] uninit, n: u64 = {n})
// launch: copy_f32x2<<<{ceil(n, 2 * block)}, {block}>>>(x: f32[{n}], y: f32[{n}] uninit, n: u64 = {n})
// launch: copy_bf16x8<<<{ceil(n, 8 * block)}, {block}>>>(x: bf16[{n}], y: bf16[{n}] uninit, n: u64 = {n})
// sweep: some
// warm
// launch: copy_strided_grid<<<{min(ceil(n, block), 132 * 8)}, {block}>>>(x: f32[{n}], y: f32[{n}] uninit, n: u64 = {n})
// launch: copy_four_apart<<<{ceil(n, 4 * block)}, {block}>>>(x: f32[{n}], y: f32[{n}] uninit, n: u64 = {n})
// launch: copy_four_neighbours<<<{ceil(n, 4 * block)}, {block}>>>(x: f32[{n}], y: f32[{n}] uninit, n: u64 = {n})
// launch: fill_f32<<<{ceil(n, block)}, {block}>>>(y: f32[{n}] uninit, n: u64 = {n})
// launch: read_f32<<<{ceil(n, block)}, {block}>>>(x: f32[{n}], y: f32[1], n: u64 = {n})
#include <cuda_bf16.h>
#define INDEX ((size_t)blockIdx.x * blockDim.x + threadIdx.x)

extern "C" __global__ void copy_f32(const float* x, float* y, size_t n) {
    if (INDEX < n) y[INDEX] = x[INDEX];
}
extern "C" __global__ void copy_bf16(const __nv_bfloat16* x, __nv_bfloat16* y, size_t n) {
    if (INDEX < n) y[INDEX] = x[INDEX];
}
extern "C" __global__ void copy_i8(const signed char* x, signed char* y, size_t n) {
    if (INDEX < n) y[INDEX] = x[INDEX];
}
extern "C" __global__ void copy_f32x4(const float4* x, float4* y, size_t n) {
    if (INDEX < n / 4) y[INDEX] = x[INDEX];
}
extern "C" __global__ void copy_f32x2(const float2* x, float2* y, size_t n) {
    if (INDEX < n / 2) y[INDEX] = x[INDEX];
}
extern "C" __global__ void copy_bf16x8(const uint4* x, uint4* y, size_t n) {
    if (INDEX < n / 8) y[INDEX] = x[INDEX];
}
extern "C" __global__ void copy_strided_grid(const float* x, float* y, size_t n) {
    for (size_t i = INDEX; i < n; i += (size_t)gridDim.x * blockDim.x) y[i] = x[i];
}
extern "C" __global__ void copy_four_apart(const float* x, float* y, size_t n) {
    size_t first = (size_t)blockIdx.x * blockDim.x * 4 + threadIdx.x;
    for (int k = 0; k < 4; k++) {
        size_t i = first + k * blockDim.x;
        if (i < n) y[i] = x[i];
    }
}
extern "C" __global__ void copy_four_neighbours(const float* x, float* y, size_t n) {
    for (int k = 0; k < 4; k++) {
        size_t i = INDEX * 4 + k;
        if (i < n) y[i] = x[i];
    }
}
extern "C" __global__ void fill_f32(float* y, size_t n) {
    if (INDEX < n) y[INDEX] = 1.5f;
}
// Nothing that is read is larger than 4, so nothing is written.
extern "C" __global__ void read_f32(const float* x, float* y, size_t n) {
    if (INDEX < n && x[INDEX] > 100.0f) *y = 1.0f;
}
