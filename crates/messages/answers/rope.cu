// rope: turns each pair of elements of every head of q and k by the angle of the token's position. A block has a token.
#include <cuda_bf16.h>

template <bool NEOX>
__device__ __forceinline__ void rope(const int* __restrict__ positions, const float* __restrict__ table,
                                     __nv_bfloat16* __restrict__ q, __nv_bfloat16* __restrict__ k,
                                     size_t q_heads, size_t k_heads, size_t head_dim) {
    const size_t token = blockIdx.x;
    const float* row = table + positions[token] * head_dim;
    q += token * q_heads * head_dim;
    k += token * k_heads * head_dim;

    const unsigned half = head_dim / 2, queries = q_heads, pairs = (q_heads + k_heads) * half;
    for (unsigned p = threadIdx.x; p < pairs; p += blockDim.x) {
        const unsigned head = p / half, i = p % half;
        __nv_bfloat16* x = head < queries ? q + head * head_dim : k + (head - queries) * head_dim;
        __nv_bfloat16* first = x + (NEOX ? i : 2 * i);
        __nv_bfloat16* second = first + (NEOX ? half : 1);

        const float cos = row[i], sin = row[half + i];
        const float a = __bfloat162float(*first), b = __bfloat162float(*second);
        *first = __float2bfloat16_rn(a * cos - b * sin);
        *second = __float2bfloat16_rn(b * cos + a * sin);
    }
}

extern "C" __global__ void rope_neox(const int* positions, const float* table, __nv_bfloat16* q, __nv_bfloat16* k,
                                     size_t tokens, size_t q_heads, size_t k_heads, size_t head_dim) {
    rope<true>(positions, table, q, k, q_heads, k_heads, head_dim);
}
extern "C" __global__ void rope_gptj(const int* positions, const float* table, __nv_bfloat16* q, __nv_bfloat16* k,
                                     size_t tokens, size_t q_heads, size_t k_heads, size_t head_dim) {
    rope<false>(positions, table, q, k, q_heads, k_heads, head_dim);
}
