// A block of 1,024 threads per token, with one loop over the queries and one over the keys.
#include <cuda_bf16.h>

__device__ void turn(const float* row, __nv_bfloat16* x, int pairing, size_t heads, size_t head_dim) {
    int half = head_dim / 2;
    for (int p = threadIdx.x; p < heads * half; p += blockDim.x) {
        int head = p / half;
        int i = p % half;
        __nv_bfloat16* at = x + head * head_dim;
        int one = pairing == 0 ? i : 2 * i;
        int other = pairing == 0 ? i + half : 2 * i + 1;
        float a = __bfloat162float(at[one]);
        float b = __bfloat162float(at[other]);
        at[one] = __float2bfloat16(a * row[i] - b * row[half + i]);
        at[other] = __float2bfloat16(b * row[i] + a * row[half + i]);
    }
}

extern "C" __global__ void rope(const int* positions, const float* table, __nv_bfloat16* q, __nv_bfloat16* k, int pairing,
                                size_t tokens, size_t q_heads, size_t k_heads, size_t head_dim) {
    size_t token = blockIdx.x;
    const float* row = table + positions[token] * head_dim;
    turn(row, q + token * q_heads * head_dim, pairing, q_heads, head_dim);
    turn(row, k + token * k_heads * head_dim, pairing, k_heads, head_dim);
}
