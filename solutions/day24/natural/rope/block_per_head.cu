// A block for each head of each token, however few pairs that has.
#include <cuda_bf16.h>

extern "C" __global__ void rope(const int* positions, const float* table, __nv_bfloat16* q, __nv_bfloat16* k, int pairing,
                                size_t tokens, size_t q_heads, size_t k_heads, size_t head_dim) {
    size_t heads = q_heads + k_heads;
    size_t token = blockIdx.x / heads;
    size_t head = blockIdx.x % heads;
    size_t half = head_dim / 2;
    const float* row = table + positions[token] * head_dim;
    __nv_bfloat16* x = head < q_heads ? q + (token * q_heads + head) * head_dim : k + (token * k_heads + head - q_heads) * head_dim;
    for (size_t i = threadIdx.x; i < half; i += blockDim.x) {
        size_t one = pairing == 0 ? i : 2 * i;
        size_t other = pairing == 0 ? i + half : 2 * i + 1;
        float a = __bfloat162float(x[one]);
        float b = __bfloat162float(x[other]);
        x[one] = __float2bfloat16(a * row[i] - b * row[half + i]);
        x[other] = __float2bfloat16(b * row[i] + a * row[half + i]);
    }
}
