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

#include "pack.cuh"

// ANCHOR: kernel
// A block has a token. Its lanes read whole lines, a pack of 16 bytes each, and a thread has five packs on their way at once. All of
// them lie at the same place in their heads, so that they are turned by the same angles. In NeoX a pack has one side of eight pairs: the
// lane half a head away has the other side. In GPT-J it has four whole pairs. The launch sees to it that a head's packs divide a warp, and
// that they are aligned.
template <bool NEOX>
__device__ __forceinline__ void rope(const int* __restrict__ positions, const float* __restrict__ table,
                                     __nv_bfloat16* __restrict__ q, __nv_bfloat16* __restrict__ k,
                                     unsigned q_heads, unsigned k_heads, unsigned head_dim) {
    const int PACKS = 5, PAIRS = NEOX ? 8 : 4;
    const size_t token = blockIdx.x;
    const float* row = table + positions[token] * (size_t)head_dim;
    q += token * q_heads * head_dim;
    k += token * k_heads * head_dim;

    const unsigned packs = head_dim / 8, half = packs / 2, place = threadIdx.x % packs;
    const unsigned queries = q_heads * packs, all = (q_heads + k_heads) * packs;
    const unsigned pair = NEOX ? place % half * PAIRS : place * PAIRS;
    const float sign = NEOX && place < half ? -1.0f : 1.0f;
    // Every lane of a warp takes every step: lanes ask each other.
    for (unsigned first = 0; first < all; first += PACKS * blockDim.x) {
        uint4 held[PACKS] = {};
#pragma unroll
        for (int j = 0; j < PACKS; j++) {
            const unsigned p = first + j * blockDim.x + threadIdx.x;
            if (p < all) held[j] = p < queries ? ((const uint4*)q)[p] : ((const uint4*)k)[p - queries];
        }
        // After the loads of the heads, which need no position.
        float cos[PAIRS], sin[PAIRS];
#pragma unroll
        for (int j = 0; j < PAIRS; j += 4) {
            const Pack<float> c = load_pack(row + pair, j / 4), s = load_pack(row + head_dim / 2 + pair, j / 4);
#pragma unroll
            for (int i = 0; i < 4; i++) cos[j + i] = c.at[i], sin[j + i] = sign * s.at[i];
        }
#pragma unroll
        for (int j = 0; j < PACKS; j++) {
            const unsigned p = first + j * blockDim.x + threadIdx.x;
            Pack<__nv_bfloat16> turned;
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const unsigned own = ((const unsigned*)&held[j])[i];
                const float2 x = __bfloat1622float2((const __nv_bfloat162&)own);
                if (NEOX) {
                    const unsigned other = __shfl_xor_sync(~0u, own, half);
                    const float2 y = __bfloat1622float2((const __nv_bfloat162&)other);
                    set_float2(turned, i, make_float2(x.x * cos[2 * i] + y.x * sin[2 * i],
                                                      x.y * cos[2 * i + 1] + y.y * sin[2 * i + 1]));
                } else {
                    set_float2(turned, i, make_float2(x.x * cos[i] - x.y * sin[i], x.y * cos[i] + x.x * sin[i]));
                }
            }
            if (p < all) p < queries ? store_pack(q, p, turned) : store_pack(k, p - queries, turned);
        }
    }
}

extern "C" __global__ void __launch_bounds__(512)
    rope_neox(const int* positions, const float* table, __nv_bfloat16* q, __nv_bfloat16* k,
              size_t q_heads, size_t k_heads, size_t head_dim) {
    rope<true>(positions, table, q, k, q_heads, k_heads, head_dim);
}
extern "C" __global__ void __launch_bounds__(512)
    rope_gptj(const int* positions, const float* table, __nv_bfloat16* q, __nv_bfloat16* k,
              size_t q_heads, size_t k_heads, size_t head_dim) {
    rope<false>(positions, table, q, k, q_heads, k_heads, head_dim);
}
// ANCHOR_END: kernel

// Heads of any even length, by single elements: a block has a token.
template <bool NEOX>
__device__ __forceinline__ void rope_any(const int* __restrict__ positions, const float* __restrict__ table,
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
        const float a = to_float(*first), b = to_float(*second);
        *first = from_float<__nv_bfloat16>(a * cos - b * sin);
        *second = from_float<__nv_bfloat16>(b * cos + a * sin);
    }
}

extern "C" __global__ void rope_neox_any(const int* positions, const float* table, __nv_bfloat16* q, __nv_bfloat16* k,
                                         size_t q_heads, size_t k_heads, size_t head_dim) {
    rope_any<true>(positions, table, q, k, q_heads, k_heads, head_dim);
}
extern "C" __global__ void rope_gptj_any(const int* positions, const float* table, __nv_bfloat16* q, __nv_bfloat16* k,
                                         size_t q_heads, size_t k_heads, size_t head_dim) {
    rope_any<false>(positions, table, q, k, q_heads, k_heads, head_dim);
}
