#include <cuda_fp16.h>

#include "activation.cuh"

__device__ float sum_of_block(float value) {
    __shared__ float of_warp[4];
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffff, value, distance);
    __syncthreads();
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    return of_warp[0] + of_warp[1] + of_warp[2] + of_warp[3];
}

extern "C" __global__ void layernorm(const __half* x, const __half* gamma, const __half* beta, __half* normed, size_t columns) {
    x += blockIdx.x * columns;
    normed += blockIdx.x * columns;
    float sum = 0.0f, squares = 0.0f;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += __half2float(x[i]);
    const float mean = sum_of_block(sum) / columns;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        const float distance = __half2float(x[i]) - mean;
        squares += distance * distance;
    }
    const float factor = rsqrtf(sum_of_block(squares) / columns + 1e-5f);
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        normed[i] = __float2half((__half2float(x[i]) - mean) * factor * __half2float(gamma[i]) + __half2float(beta[i]));
    }
}

extern "C" __global__ void epilogue(const __half* product, const __half* normed, const __half* bias, const __half* x, __half* out, size_t columns) {
    const size_t start = blockIdx.x * columns;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        const float t = __half2float(product[start + i]) + __half2float(bias[i]);
        out[start + i] = __float2half(__half2float(x[start + i]) + fmaxf(t, 0.0f));
    }
}
