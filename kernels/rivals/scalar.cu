// Fused kernels with one element per thread: as few launches and bytes as there can be for one tensor, and narrow accesses. Day 25's
// exercises must be faster, and one of Day 26.
//
// Arguments are the buffers read, the buffers written, the scalars, and the number of elements.
#include <cuda_bf16.h>

#include "activation.cuh"

// ANCHOR: add_gelu
extern "C" __global__ void add_gelu_scalar(const float* a, const float* b, float* out, size_t n) {
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = gelu_tanh(a[i] + b[i]);
}
// ANCHOR_END: add_gelu

// ANCHOR: quantize_int8
extern "C" __global__ void quantize_int8_scalar(const float* x, signed char* out, float scale, float zero_point, size_t n) {
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = (signed char)max(-128, min(127, __float2int_rn(x[i] / scale + zero_point)));
}
// ANCHOR_END: quantize_int8

// ANCHOR: silu_mul
extern "C" __global__ void silu_mul_bf16_scalar(const __nv_bfloat16* gate, const __nv_bfloat16* up, __nv_bfloat16* out, size_t n) {
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = __float2bfloat16_rn(silu(__bfloat162float(gate[i])) * __bfloat162float(up[i]));
}
// ANCHOR_END: silu_mul

// ANCHOR: scale_shift
extern "C" __global__ void scale_shift_scalar(const float* x, float* out, float scale, float shift, size_t n) {
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i] * scale + shift;
}
// ANCHOR_END: scale_shift

// ANCHOR: adamw
// Launched once for each tensor.
extern "C" __global__ void adamw_scalar(const float* p, const float* g, const float* m, const float* v, float* p_out,
                                        float* m_out, float* v_out, float lr, float beta1, float beta2, float epsilon,
                                        float weight_decay, float correction1, float correction2, size_t n) {
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float m_new = beta1 * m[i] + (1.0f - beta1) * g[i];
    const float v_new = beta2 * v[i] + (1.0f - beta2) * g[i] * g[i];
    const float denominator = sqrtf(v_new / correction2) + epsilon;
    p_out[i] = p[i] * (1.0f - lr * weight_decay) - lr / correction1 * (m_new / denominator);
    m_out[i] = m_new;
    v_out[i] = v_new;
}
// ANCHOR_END: adamw
