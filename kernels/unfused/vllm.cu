// The unfused chains of Day 24, in the types that inference uses: bf16 between the kernels, and int8 or fp8 at the end.
//
// As in elementwise.cu, every kernel writes its whole result to global memory, and rounds it to the type of
// that buffer. Row kernels have one block a row; their last arguments are the numbers of rows and columns.
#include <cuda_bf16.h>

#include "activation.cuh"
#include "reduce.cuh"

// ANCHOR: silu_mul
extern "C" __global__ void silu_bf16(const __nv_bfloat16* x, __nv_bfloat16* out, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float t = __bfloat162float(x[i]);
    out[i] = __float2bfloat16_rn(t / (1.0f + expf(-t)));
}

extern "C" __global__ void mul_bf16(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* out, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = __float2bfloat16_rn(__bfloat162float(a[i]) * __bfloat162float(b[i]));
}
// ANCHOR_END: silu_mul

// ANCHOR: activation
// Which activation it is, every thread asks: 0 relu, 1 gelu, 2 silu.
extern "C" __global__ void activation(const float* x, float* out, int act, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float t = x[i];
    out[i] = act == 0 ? fmaxf(t, 0.0f) : act == 1 ? gelu_tanh(t) : t / (1.0f + expf(-t));
}
// ANCHOR_END: activation

// ANCHOR: rmsnorm
// In place as a rule: `out` may be `a`.
extern "C" __global__ void add_bf16(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* out, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = __float2bfloat16_rn(__bfloat162float(a[i]) + __bfloat162float(b[i]));
}

extern "C" __global__ void rmsnorm_bf16(const __nv_bfloat16* x, const __nv_bfloat16* weight, __nv_bfloat16* out, size_t rows, size_t columns) {
    __shared__ float sums[32];
    const size_t first = blockIdx.x * columns;
    float sum = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        float v = __bfloat162float(x[first + c]);
        sum += v * v;
    }
    float factor = rsqrtf(reduce_block(sum, sums, 0.0f, Sum()) / columns + 1e-6f);
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        out[first + c] = __float2bfloat16_rn(__bfloat162float(x[first + c]) * factor * __bfloat162float(weight[c]));
    }
}
// ANCHOR_END: rmsnorm

// ANCHOR: relu_bf16
extern "C" __global__ void to_bf16(const float* x, __nv_bfloat16* out, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = __float2bfloat16_rn(x[i]);
}
// ANCHOR_END: relu_bf16

// ANCHOR: rmsnorm_quant
extern "C" __global__ void rmsnorm_affine(const float* x, const float* weight, float* out, size_t rows, size_t columns) {
    __shared__ float sums[32];
    const size_t first = blockIdx.x * columns;
    float sum = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) sum += x[first + c] * x[first + c];
    float factor = rsqrtf(reduce_block(sum, sums, 0.0f, Sum()) / columns + 1e-6f);
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) out[first + c] = x[first + c] * factor * weight[c];
}
// ANCHOR_END: rmsnorm_quant

// ANCHOR: layernorm_quant
extern "C" __global__ void layernorm_affine(const float* x, const float* gamma, const float* beta, float* out, size_t rows, size_t columns) {
    __shared__ float sums[32], squares[32];
    const size_t first = blockIdx.x * columns;
    float sum = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) sum += x[first + c];
    float mean = reduce_block(sum, sums, 0.0f, Sum()) / columns;
    float square = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) square += (x[first + c] - mean) * (x[first + c] - mean);
    float factor = rsqrtf(reduce_block(square, squares, 0.0f, Sum()) / columns + 1e-5f);
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        out[first + c] = (x[first + c] - mean) * factor * gamma[c] + beta[c];
    }
}

extern "C" __global__ void row_scale(const float* y, float* scale, size_t rows, size_t columns) {
    __shared__ float tops[32];
    const size_t first = blockIdx.x * columns;
    float top = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) top = fmaxf(top, fabsf(y[first + c]));
    top = reduce_block(top, tops, 0.0f, Max());
    if (threadIdx.x == 0) scale[blockIdx.x] = top / 127.0f;
}

extern "C" __global__ void quantize_rows(const float* y, const float* scale, signed char* q, size_t rows, size_t columns) {
    const size_t first = blockIdx.x * columns;
    const float s = scale[blockIdx.x];
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        q[first + c] = s > 0.0f ? (signed char)__float2int_rn(y[first + c] / s) : 0;
    }
}
// ANCHOR_END: layernorm_quant

// ANCHOR: rmsnorm_fp8
// The e4m3 next to a number: ties go to even, and nothing is larger than 448. By hand, because this file is compiled with every
// exercise, and <cuda_fp8.h> is long.
__device__ __forceinline__ unsigned char e4m3_bits(float value) {
#if __CUDA_ARCH__ >= 890
    unsigned short pair;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(value));
    return (unsigned char)pair;
#else
    // Added to 2^20 times its own power of two, a number has three bits behind its first one left, and they are the last of the sum.
    const float size = fminf(fabsf(value), 448.0f);
    const unsigned exponent = max(__float_as_uint(size) >> 23, 127u - 6);
    const unsigned large = (exponent + 20) << 23;
    const unsigned steps = __float_as_uint(size + __uint_as_float(large)) - large;
    return (unsigned char)(((exponent - (127 - 6)) << 3) + steps | (value < 0.0f ? 0x80 : 0));
#endif
}

extern "C" __global__ void quantize_fp8_rows(const __nv_bfloat16* y, unsigned char* q, float* scale, size_t rows, size_t columns) {
    __shared__ float tops[32];
    const size_t first = blockIdx.x * columns;
    float top = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) top = fmaxf(top, fabsf(__bfloat162float(y[first + c])));
    const float s = reduce_block(top, tops, 0.0f, Max()) / 448.0f;
    if (threadIdx.x == 0) scale[blockIdx.x] = s;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        q[first + c] = s > 0.0f ? e4m3_bits(__bfloat162float(y[first + c]) / s) : 0;
    }
}
// ANCHOR_END: rmsnorm_fp8

// ANCHOR: rope
// What all heads of a token are turned by: the row of its position, of the cosines and then the sines of all pairs, as bf16.
extern "C" __global__ void rope_rows(const int* positions, const float* table, __nv_bfloat16* cos, __nv_bfloat16* sin,
                                     size_t head_dim, size_t rows, size_t columns) {
    const float* row = table + positions[blockIdx.x] * head_dim;
    const unsigned half = head_dim / 2;
    for (unsigned i = threadIdx.x; i < half; i += blockDim.x) {
        cos[(size_t)blockIdx.x * half + i] = __float2bfloat16_rn(row[i]);
        sin[(size_t)blockIdx.x * half + i] = __float2bfloat16_rn(row[half + i]);
    }
}

// Each element times the factor of its pair. `pairing` is 0 where the elements i and i + head_dim / 2 are a pair, and 1 where 2i and 2i + 1 are.
extern "C" __global__ void rope_scale(const __nv_bfloat16* x, const __nv_bfloat16* factor, __nv_bfloat16* out, int pairing,
                                      size_t heads, size_t head_dim, size_t rows, size_t columns) {
    const unsigned head = head_dim, half = head / 2, all = heads * head;
    x += (size_t)blockIdx.x * all;
    out += (size_t)blockIdx.x * all;
    factor += (size_t)blockIdx.x * half;
    for (unsigned i = threadIdx.x; i < all; i += blockDim.x) {
        const unsigned pair = pairing == 0 ? i % half : i % head / 2;
        out[i] = __float2bfloat16_rn(__bfloat162float(x[i]) * __bfloat162float(factor[pair]));
    }
}

// (a, b) becomes (-b, a), for each pair.
extern "C" __global__ void rope_turn(const __nv_bfloat16* x, __nv_bfloat16* out, int pairing, size_t heads, size_t head_dim, size_t rows,
                                     size_t columns) {
    const unsigned head = head_dim, half = head / 2, all = heads * head;
    x += (size_t)blockIdx.x * all;
    out += (size_t)blockIdx.x * all;
    for (unsigned i = threadIdx.x; i < all; i += blockDim.x) {
        const bool is_first = pairing == 0 ? i % head < half : i % 2 == 0;
        const unsigned apart = pairing == 0 ? half : 1;
        out[i] = is_first ? __float2bfloat16_rn(-__bfloat162float(x[i + apart])) : x[i - apart];
    }
}

extern "C" __global__ void rope_add(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* out, int pairing, size_t heads,
                                    size_t head_dim, size_t rows, size_t columns) {
    const unsigned all = heads * head_dim;
    const size_t first = (size_t)blockIdx.x * all;
    for (unsigned i = threadIdx.x; i < all; i += blockDim.x) {
        out[first + i] = __float2bfloat16_rn(__bfloat162float(a[first + i]) + __bfloat162float(b[first + i]));
    }
}
// ANCHOR_END: rope
