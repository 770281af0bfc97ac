// add_gelu in four widths: one float a thread, then one, two and four vectors of 16 bytes.
#include "activation.cuh"

// ANCHOR: scalar
extern "C" __global__ void add_gelu_scalar_width(const float* a, const float* b, float* out, size_t n) {
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = gelu_tanh(a[i] + b[i]);
}
// ANCHOR_END: scalar

__device__ __forceinline__ float4 gelu_tanh(float4 a, float4 b) {
    return make_float4(gelu_tanh(a.x + b.x), gelu_tanh(a.y + b.y), gelu_tanh(a.z + b.z), gelu_tanh(a.w + b.w));
}

extern "C" __global__ void add_gelu_float4(const float* a, const float* b, float* out, size_t n) {
    const size_t v = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n / 4) {
        ((float4*)out)[v] = gelu_tanh(((const float4*)a)[v], ((const float4*)b)[v]);
    }
    // The tail: at most three elements, by the first threads of the grid.
    const size_t i = n / 4 * 4 + v;
    if (i < n) out[i] = gelu_tanh(a[i] + b[i]);
}

// ANCHOR: several
// All vectors are loaded before the first is used. A block's threads take neighbouring ones in each step.
template <int VECTORS>
__device__ __forceinline__ void add_gelu_several(const float* a, const float* b, float* out, size_t n) {
    const size_t first = (size_t)blockIdx.x * blockDim.x * VECTORS + threadIdx.x;
    float4 left[VECTORS], right[VECTORS];
#pragma unroll
    for (int j = 0; j < VECTORS; j++) {
        const size_t v = first + j * blockDim.x;
        if (v < n / 4) {
            left[j] = ((const float4*)a)[v];
            right[j] = ((const float4*)b)[v];
        }
    }
#pragma unroll
    for (int j = 0; j < VECTORS; j++) {
        const size_t v = first + j * blockDim.x;
        if (v < n / 4) ((float4*)out)[v] = gelu_tanh(left[j], right[j]);
    }
    const size_t i = n / 4 * 4 + (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = gelu_tanh(a[i] + b[i]);
}
// ANCHOR_END: several

extern "C" __global__ void add_gelu_2_float4(const float* a, const float* b, float* out, size_t n) {
    add_gelu_several<2>(a, b, out, n);
}

extern "C" __global__ void add_gelu_4_float4(const float* a, const float* b, float* out, size_t n) {
    add_gelu_several<4>(a, b, out, n);
}
