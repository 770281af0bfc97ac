// What the chapter works through: vectors in, and vectors of another size out.
#include <cuda_bf16.h>

// ANCHOR: sigmoid
__device__ __forceinline__ float sigmoid(float t) {
    return 1.0f / (1.0f + expf(-t));
}

extern "C" __global__ void add_sigmoid_float4(const float* a, const float* b, float* out, size_t n) {
    const size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (thread < n / 4) {
        const float4 s = ((const float4*)a)[thread], t = ((const float4*)b)[thread];
        ((float4*)out)[thread] =
            make_float4(sigmoid(s.x + t.x), sigmoid(s.y + t.y), sigmoid(s.z + t.z), sigmoid(s.w + t.w));
    }
    // The tail: at most three elements, by the first threads of the grid.
    const size_t i = n / 4 * 4 + thread;
    if (i < n) out[i] = sigmoid(a[i] + b[i]);
}
// ANCHOR_END: sigmoid

extern "C" __global__ void add_sigmoid_scalar(const float* a, const float* b, float* out, size_t n) {
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = sigmoid(a[i] + b[i]);
}

// max(x, 0) of two floats, rounded to bf16, in one word of 4 bytes.
__device__ __forceinline__ unsigned two(float low, float high) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(fmaxf(low, 0.0f), fmaxf(high, 0.0f));
    return *(const unsigned*)&pair;
}

extern "C" __global__ void relu_bf16_scalar(const float* x, __nv_bfloat16* out, size_t n) {
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = __float2bfloat16_rn(fmaxf(x[i], 0.0f));
}

// ANCHOR: beside
// Two vectors a thread, a block apart. Each becomes a word of 8 bytes.
extern "C" __global__ void relu_bf16_beside(const float* x, __nv_bfloat16* out, size_t n) {
    const size_t first = (size_t)blockIdx.x * blockDim.x * 2 + threadIdx.x;
    float4 loaded[2];
#pragma unroll
    for (int j = 0; j < 2; j++) {
        const size_t v = first + j * blockDim.x;
        if (v < n / 4) loaded[j] = ((const float4*)x)[v];
    }
#pragma unroll
    for (int j = 0; j < 2; j++) {
        const size_t v = first + j * blockDim.x;
        if (v < n / 4) {
            const float4 f = loaded[j];
            ((uint2*)out)[v] = make_uint2(two(f.x, f.y), two(f.z, f.w));
        }
    }
    const size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (thread < n % 4) out[n / 4 * 4 + thread] = __float2bfloat16_rn(fmaxf(x[n / 4 * 4 + thread], 0.0f));
}
// ANCHOR_END: beside

// ANCHOR: neighbours
// Two vectors a thread that lie next to each other. Together they become 16 bytes.
extern "C" __global__ void relu_bf16_neighbours(const float* x, __nv_bfloat16* out, size_t n) {
    const size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (thread < n / 8) {
        const float4 f = ((const float4*)x)[2 * thread], g = ((const float4*)x)[2 * thread + 1];
        ((uint4*)out)[thread] = make_uint4(two(f.x, f.y), two(f.z, f.w), two(g.x, g.y), two(g.z, g.w));
    }
    if (thread < n % 8) out[n / 8 * 8 + thread] = __float2bfloat16_rn(fmaxf(x[n / 8 * 8 + thread], 0.0f));
}
// ANCHOR_END: neighbours
