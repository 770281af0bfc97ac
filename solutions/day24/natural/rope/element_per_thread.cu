// A block per token, which puts its angles into shared memory and turns head after head there: a thread has one element, and reads two.
#include <cuda_bf16.h>

__device__ void turn(const float* angles, float* copy, __nv_bfloat16* x, int pairing, size_t heads, size_t head_dim) {
    size_t half = head_dim / 2;
    for (size_t head = 0; head < heads; head++) {
        for (size_t i = threadIdx.x; i < head_dim; i += blockDim.x) {
            copy[i] = __bfloat162float(x[head * head_dim + i]);
        }
        __syncthreads();
        for (size_t i = threadIdx.x; i < head_dim; i += blockDim.x) {
            size_t pair = pairing == 0 ? i % half : i / 2;
            bool first = pairing == 0 ? i < half : i % 2 == 0;
            size_t apart = pairing == 0 ? half : 1;
            float other = first ? -copy[i + apart] : copy[i - apart];
            x[head * head_dim + i] = __float2bfloat16(copy[i] * angles[pair] + other * angles[half + pair]);
        }
        __syncthreads();
    }
}

extern "C" __global__ void rope(const int* positions, const float* table, __nv_bfloat16* q, __nv_bfloat16* k, int pairing,
                                size_t tokens, size_t q_heads, size_t k_heads, size_t head_dim) {
    extern __shared__ float shared[];
    float* angles = shared;
    float* copy = shared + head_dim;
    size_t token = blockIdx.x;
    for (size_t i = threadIdx.x; i < head_dim; i += blockDim.x) {
        angles[i] = table[positions[token] * head_dim + i];
    }
    __syncthreads();
    turn(angles, copy, q + token * q_heads * head_dim, pairing, q_heads, head_dim);
    turn(angles, copy, k + token * k_heads * head_dim, pairing, k_heads, head_dim);
}
