// rope: the rotary position embedding of queries and keys, in place. A head is an even number of bf16, `head_dim`, and its elements are turned
// in pairs (a, b), each pair by an angle that depends on the token's position and on the pair's number i:
//     a = a * cos[i] - b * sin[i]
//     b = b * cos[i] + a * sin[i]          with the old a; products and sums in f32, rounded once, to nearest even
// `pairing` says which elements are pair i: 0, NeoX, elements i and i + head_dim / 2; 1, GPT-J, elements 2i and 2i + 1.
//
// q is tokens x q_heads x head_dim, and k is tokens x k_heads x head_dim, row-major; k has as many heads as q or fewer. All heads of a
// token are turned alike: positions[token] is the row of `table`, which has the head_dim / 2 cosines of all pairs and then as many sines, in f32.
//
// Unfused, this is nine launches. One gathers the rows of the table as bf16, and then there are four each for q and k:
//     rope_scale   x_cos = x * cos                           4 bytes per element
//     rope_turn    turned = (-b, a) of each pair (a, b)      4
//     rope_scale   x_sin = turned * sin                      4
//     rope_add     x = x_cos + x_sin                         6
// 18 bytes per element. One kernel can do it with 4: read q and k, write q and k. The table is small, and stays in the caches.
//
// Grade it with: cargo xtask grade rope

#include <cuda_bf16.h>

// ANCHOR: kernel
// A block has a token, whose pairs of elements its threads take in turn, those of all heads of q and then those of k. Which elements are
// a pair is part of the type: no thread asks.
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
// ANCHOR_END: kernel
