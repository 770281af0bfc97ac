// The unfused chain's steps on f16: one kernel each, as a framework without fusion runs them. What a kernel computes it
// computes in f32, rounds and writes; the next kernel reads it back.
//
// The row kernels of RMSNorm have a warp for each row and eight rows a block, which suits the short rows they are used for;
// those of the feed-forward sublayer have a block for each row.
#include <cuda_fp16.h>

#include "activation.cuh"

// ANCHOR: rmsnorm
extern "C" __global__ void square_f16(const __half* x, float* out, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = __half2float(x[i]) * __half2float(x[i]);
}

extern "C" __global__ void mean_of_short_rows(const float* x, float* means, size_t rows, size_t columns) {
    const size_t row = (size_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= rows) return;
    float sum = 0.0f;
    for (size_t column = threadIdx.x % 32; column < columns; column += 32) sum += x[row * columns + column];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffff, sum, distance);
    if (threadIdx.x % 32 == 0) means[row] = sum / columns;
}

extern "C" __global__ void scale_rows_f16(const __half* x, const float* means, __half* out, float epsilon, size_t rows, size_t columns) {
    const size_t row = (size_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= rows) return;
    const float factor = rsqrtf(means[row] + epsilon);
    for (size_t column = threadIdx.x % 32; column < columns; column += 32) {
        out[row * columns + column] = __float2half(__half2float(x[row * columns + column]) * factor);
    }
}

extern "C" __global__ void mul_columns_f16(const __half* x, const __half* weight, __half* out, size_t rows, size_t columns) {
    const size_t row = (size_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= rows) return;
    for (size_t column = threadIdx.x % 32; column < columns; column += 32) {
        out[row * columns + column] = __float2half(__half2float(x[row * columns + column]) * __half2float(weight[column]));
    }
}
// ANCHOR_END: rmsnorm

// ANCHOR: ffn
// The sum over a block's threads, of which there are at most 1024; every thread gets it.
__device__ float sum_of_block(float value) {
    __shared__ float of_warp[32];
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffff, value, distance);
    __syncthreads();
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    float sum = 0.0f;
    for (int warp = 0; warp < blockDim.x / 32; warp++) sum += of_warp[warp];
    return sum;
}

extern "C" __global__ void layernorm_f16(const __half* x, const __half* gamma, const __half* beta, __half* out, float epsilon, size_t rows, size_t columns) {
    const size_t start = (size_t)blockIdx.x * columns;
    float sum = 0.0f, squares = 0.0f;
    for (size_t column = threadIdx.x; column < columns; column += blockDim.x) sum += __half2float(x[start + column]);
    const float mean = sum_of_block(sum) / columns;
    for (size_t column = threadIdx.x; column < columns; column += blockDim.x) {
        const float distance = __half2float(x[start + column]) - mean;
        squares += distance * distance;
    }
    const float factor = rsqrtf(sum_of_block(squares) / columns + epsilon);
    for (size_t column = threadIdx.x; column < columns; column += blockDim.x) {
        const float normed = (__half2float(x[start + column]) - mean) * factor;
        out[start + column] = __float2half(normed * __half2float(gamma[column]) + __half2float(beta[column]));
    }
}

extern "C" __global__ void add_columns_f16(const __half* x, const __half* bias, __half* out, size_t rows, size_t columns) {
    const size_t start = (size_t)blockIdx.x * columns;
    for (size_t column = threadIdx.x; column < columns; column += blockDim.x) {
        out[start + column] = __float2half(__half2float(x[start + column]) + __half2float(bias[column]));
    }
}

extern "C" __global__ void gelu_f16(const __half* x, __half* out, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = __float2half(gelu_tanh(__half2float(x[i])));
}

extern "C" __global__ void add_f16(const __half* a, const __half* b, __half* out, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = __float2half(__half2float(a[i]) + __half2float(b[i]));
}
// ANCHOR_END: ffn

// ANCHOR: epilogue
// Not a step of the chain but its last three in one kernel.
extern "C" __global__ void bias_gelu_add_f16(const __half* product, const __half* bias, const __half* x, __half* out, size_t rows, size_t columns) {
    const size_t start = (size_t)blockIdx.x * columns;
    for (size_t column = threadIdx.x; column < columns; column += blockDim.x) {
        const float t = __half2float(product[start + column]) + __half2float(bias[column]);
        out[start + column] = __float2half(__half2float(x[start + column]) + gelu_tanh(t));
    }
}
// ANCHOR_END: epilogue
