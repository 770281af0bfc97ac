// The same operations with 16-byte accesses, and several packs per thread.
// sweep: elements
// launch: add_gelu_x4<<<{ceil(n, 4 * block)}, {block}>>>(a: f32[{n}], b: f32[{n}], y: f32[{n}] uninit, n: u64 = {n})
// launch: silu_mul_x8<<<{ceil(n, 8 * block)}, {block}>>>(gate: bf16[{n}], up: bf16[{n}], y: bf16[{n}] uninit, n: u64 = {n})
// launch: quantize_x4<<<{ceil(n, 4 * block)}, {block}>>>(x: f32[{n}], q: i8[{n}] uninit, scale: f32 = 0.02362205, n: u64 = {n})
// sweep: some
// launch: add_gelu_x8<<<{ceil(n, 8 * block)}, {block}>>>(a: f32[{n}], b: f32[{n}], y: f32[{n}] uninit, n: u64 = {n})
// launch: add_gelu_x4_grid<<<{min(ceil(n, 4 * block), 132 * 8)}, {block}>>>(a: f32[{n}], b: f32[{n}], y: f32[{n}] uninit, n: u64 = {n})
// launch: axpy_x4<<<{ceil(n, 4 * block)}, {block}>>>(x: f32[{n}], y: f32[{n}], a: f32 = 0.5, n: u64 = {n})
#include <cuda_bf16.h>
#define INDEX ((size_t)blockIdx.x * blockDim.x + threadIdx.x)

__device__ float gelu(float t) {
    return 0.5f * t * (1.0f + tanhf(0.7978845608f * (t + 0.044715f * t * t * t)));
}
__device__ float4 gelu(float4 a, float4 b) {
    return make_float4(gelu(a.x + b.x), gelu(a.y + b.y), gelu(a.z + b.z), gelu(a.w + b.w));
}
extern "C" __global__ void add_gelu_x4(const float4* a, const float4* b, float4* y, size_t n) {
    if (INDEX < n / 4) y[INDEX] = gelu(a[INDEX], b[INDEX]);
}
extern "C" __global__ void add_gelu_x8(const float4* __restrict__ a, const float4* __restrict__ b, float4* __restrict__ y, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x * 2 + threadIdx.x, j = i + blockDim.x;
    if (j >= n / 4) return;
    float4 a0 = a[i], b0 = b[i], a1 = a[j], b1 = b[j];
    y[i] = gelu(a0, b0);
    y[j] = gelu(a1, b1);
}
extern "C" __global__ void add_gelu_x4_grid(const float4* a, const float4* b, float4* y, size_t n) {
    for (size_t i = INDEX; i < n / 4; i += (size_t)gridDim.x * blockDim.x) y[i] = gelu(a[i], b[i]);
}
extern "C" __global__ void silu_mul_x8(const uint4* gate, const uint4* up, uint4* y, size_t n) {
    if (INDEX >= n / 8) return;
    union Pack { uint4 bits; __nv_bfloat162 pair[4]; } g, u;
    g.bits = gate[INDEX];
    u.bits = up[INDEX];
    for (int k = 0; k < 4; k++) {
        float2 a = __bfloat1622float2(g.pair[k]), b = __bfloat1622float2(u.pair[k]);
        a.x = a.x / (1.0f + expf(-a.x)) * b.x;
        a.y = a.y / (1.0f + expf(-a.y)) * b.y;
        g.pair[k] = __float22bfloat162_rn(a);
    }
    y[INDEX] = g.bits;
}
__device__ signed char quantized(float x, float scale) {
    return (signed char)fminf(fmaxf(rintf(x / scale), -128.0f), 127.0f);
}
extern "C" __global__ void quantize_x4(const float4* x, char4* q, float scale, size_t n) {
    if (INDEX >= n / 4) return;
    float4 v = x[INDEX];
    q[INDEX] = make_char4(quantized(v.x, scale), quantized(v.y, scale), quantized(v.z, scale), quantized(v.w, scale));
}
extern "C" __global__ void axpy_x4(const float4* x, float4* y, float a, size_t n) {
    if (INDEX >= n / 4) return;
    float4 v = x[INDEX], w = y[INDEX];
    y[INDEX] = make_float4(a * v.x + w.x, a * v.y + w.y, a * v.z + w.z, a * v.w + w.w);
}
