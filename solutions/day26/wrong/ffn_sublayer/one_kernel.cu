#include <cuda_fp16.h>

#include "activation.cuh"

__device__ float sum_of_block(float value) {
    __shared__ float of_warp[8];
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffff, value, distance);
    __syncthreads();
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    float sum = 0.0f;
    for (int warp = 0; warp < 8; warp++) sum += of_warp[warp];
    return sum;
}

extern "C" __global__ void ffn_sublayer(const __half* __restrict__ x, const __half* __restrict__ gamma, const __half* __restrict__ beta,
                                        const __half* __restrict__ w, const __half* __restrict__ bias, __half* __restrict__ out,
                                        size_t rows, size_t columns) {
    __shared__ float normed[4096];
    x += blockIdx.x * columns;
    out += blockIdx.x * columns;
    float sum = 0.0f, squares = 0.0f;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += __half2float(x[i]);
    const float mean = sum_of_block(sum) / columns;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        const float distance = __half2float(x[i]) - mean;
        squares += distance * distance;
    }
    const float factor = rsqrtf(sum_of_block(squares) / columns + 1e-5f);
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        normed[i] = (__half2float(x[i]) - mean) * factor * __half2float(gamma[i]) + __half2float(beta[i]);
    }
    __syncthreads();
    for (int column = threadIdx.x; column < columns; column += blockDim.x) {
        float product = 0.0f;
        for (int k = 0; k < columns; k++) product += normed[k] * __half2float(w[k * columns + column]);
        out[column] = __float2half(__half2float(x[column]) + gelu_tanh(product + __half2float(bias[column])));
    }
}
