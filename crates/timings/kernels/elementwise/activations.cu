// Activations as a beginner writes them: one element per thread, scalar accesses.
// sweep: elements
// launch: gelu_tanh_f32<<<{ceil(n, block)}, {block}>>>(x: f32[{n}], y: f32[{n}] uninit, n: u64 = {n})
// launch: add_gelu_f32<<<{ceil(n, block)}, {block}>>>(a: f32[{n}], b: f32[{n}], y: f32[{n}] uninit, n: u64 = {n})
// launch: silu_mul_bf16<<<{ceil(n, block)}, {block}>>>(gate: bf16[{n}], up: bf16[{n}], y: bf16[{n}] uninit, n: u64 = {n})
// launch: quantize_divide<<<{ceil(n, block)}, {block}>>>(x: f32[{n}], q: i8[{n}] uninit, scale: f32 = 0.02362205, n: u64 = {n})
// sweep: some
// launch: gelu_erf_f32<<<{ceil(n, block)}, {block}>>>(x: f32[{n}], y: f32[{n}] uninit, n: u64 = {n})
// launch: sigmoid_f32<<<{ceil(n, block)}, {block}>>>(x: f32[{n}], y: f32[{n}] uninit, n: u64 = {n})
// launch: relu_in_place<<<{ceil(n, block)}, {block}>>>(x: f32[{n}], n: u64 = {n})
// launch: quantize_multiply<<<{ceil(n, block)}, {block}>>>(x: f32[{n}], q: i8[{n}] uninit, factor: f32 = 42.33, n: u64 = {n})
// launch: dequantize<<<{ceil(n, block)}, {block}>>>(q: i8[{n}], x: f32[{n}] uninit, scale: f32 = 0.02362205, n: u64 = {n})
// launch: power_f32<<<{ceil(n, block)}, {block}>>>(x: f32[{n}], y: f32[{n}] uninit, n: u64 = {n})
// launch: sine_f32<<<{ceil(n, block)}, {block}>>>(x: f32[{n}], y: f32[{n}] uninit, n: u64 = {n})
// launch: root_f32<<<{ceil(n, block)}, {block}>>>(x: f32[{n}], y: f32[{n}] uninit, n: u64 = {n})
// launch: exp_log_f32<<<{ceil(n, block)}, {block}>>>(x: f32[{n}], y: f32[{n}] uninit, n: u64 = {n})
// launch: gelu_double<<<{ceil(n, block)}, {block}>>>(x: f32[{n}], y: f32[{n}] uninit, n: u64 = {n})
// launch: multiply_add_double<<<{ceil(n, block)}, {block}>>>(x: f64[{n}], y: f64[{n}], z: f64[{n}] uninit, n: u64 = {n})
// launch: add_f16<<<{ceil(n, block)}, {block}>>>(x: f16[{n}], y: f16[{n}], z: f16[{n}] uninit, n: u64 = {n})
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define INDEX ((size_t)blockIdx.x * blockDim.x + threadIdx.x)

__device__ float gelu(float t) {
    return 0.5f * t * (1.0f + tanhf(0.7978845608f * (t + 0.044715f * t * t * t)));
}
extern "C" __global__ void gelu_tanh_f32(const float* x, float* y, size_t n) {
    if (INDEX < n) y[INDEX] = gelu(x[INDEX]);
}
extern "C" __global__ void add_gelu_f32(const float* a, const float* b, float* y, size_t n) {
    if (INDEX < n) y[INDEX] = gelu(a[INDEX] + b[INDEX]);
}
extern "C" __global__ void silu_mul_bf16(const __nv_bfloat16* gate, const __nv_bfloat16* up, __nv_bfloat16* y, size_t n) {
    size_t i = INDEX;
    if (i >= n) return;
    float g = __bfloat162float(gate[i]);
    y[i] = __float2bfloat16(g / (1.0f + expf(-g)) * __bfloat162float(up[i]));
}
extern "C" __global__ void quantize_divide(const float* x, signed char* q, float scale, size_t n) {
    size_t i = INDEX;
    if (i < n) q[i] = (signed char)fminf(fmaxf(rintf(x[i] / scale), -128.0f), 127.0f);
}
extern "C" __global__ void gelu_erf_f32(const float* x, float* y, size_t n) {
    if (INDEX < n) y[INDEX] = 0.5f * x[INDEX] * (1.0f + erff(x[INDEX] * 0.70710678f));
}
extern "C" __global__ void sigmoid_f32(const float* x, float* y, size_t n) {
    if (INDEX < n) y[INDEX] = 1.0f / (1.0f + expf(-x[INDEX]));
}
extern "C" __global__ void relu_in_place(float* x, size_t n) {
    if (INDEX < n) x[INDEX] = fmaxf(x[INDEX], 0.0f);
}
extern "C" __global__ void quantize_multiply(const float* x, signed char* q, float factor, size_t n) {
    size_t i = INDEX;
    if (i < n) q[i] = (signed char)fminf(fmaxf(rintf(x[i] * factor), -128.0f), 127.0f);
}
extern "C" __global__ void dequantize(const signed char* q, float* x, float scale, size_t n) {
    if (INDEX < n) x[INDEX] = q[INDEX] * scale;
}
extern "C" __global__ void power_f32(const float* x, float* y, size_t n) {
    if (INDEX < n) y[INDEX] = powf(fabsf(x[INDEX]), 1.7f);
}
extern "C" __global__ void sine_f32(const float* x, float* y, size_t n) {
    if (INDEX < n) y[INDEX] = sinf(x[INDEX]) * cosf(x[INDEX]);
}
extern "C" __global__ void root_f32(const float* x, float* y, size_t n) {
    if (INDEX < n) y[INDEX] = 1.0f / sqrtf(x[INDEX] * x[INDEX] + 1.0f);
}
extern "C" __global__ void exp_log_f32(const float* x, float* y, size_t n) {
    if (INDEX < n) y[INDEX] = logf(1.0f + expf(x[INDEX]));
}
extern "C" __global__ void gelu_double(const float* x, float* y, size_t n) {
    size_t i = INDEX;
    if (i >= n) return;
    double t = x[i];
    y[i] = 0.5 * t * (1.0 + tanh(0.7978845608 * (t + 0.044715 * t * t * t)));
}
extern "C" __global__ void multiply_add_double(const double* x, const double* y, double* z, size_t n) {
    if (INDEX < n) z[INDEX] = x[INDEX] * y[INDEX] + 1.0;
}
extern "C" __global__ void add_f16(const __half* x, const __half* y, __half* z, size_t n) {
    if (INDEX < n) z[INDEX] = __hadd(x[INDEX], y[INDEX]);
}
