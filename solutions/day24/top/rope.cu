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
// Turns eight pairs, which lie in two packs of 16 bytes: in NeoX the first elements of all pairs and then the second ones, in
// GPT-J four whole pairs in each. The second pack lies half a head further in both.
template <bool NEOX>
__device__ __forceinline__ void turn(Pack<__nv_bfloat16>& one, Pack<__nv_bfloat16>& other,
                                     const Pack<float> (&cos)[2], const Pack<float> (&sin)[2]) {
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const float2 x = to_float2(one, j), y = to_float2(other, j);
        if (NEOX) {
            const float2 c = to_float2(cos[j / 2], j % 2), s = to_float2(sin[j / 2], j % 2);
            set_float2(one, j, make_float2(x.x * c.x - y.x * s.x, x.y * c.y - y.y * s.y));
            set_float2(other, j, make_float2(y.x * c.x + x.x * s.x, y.y * c.y + x.y * s.y));
        } else {
            const float c = cos[0].at[j], s = sin[0].at[j], d = cos[1].at[j], t = sin[1].at[j];
            set_float2(one, j, make_float2(x.x * c - x.y * s, x.y * c + x.x * s));
            set_float2(other, j, make_float2(y.x * d - y.y * t, y.y * d + y.x * t));
        }
    }
}

// A thread has the same eight pairs of several heads of a token, two of them at once. Threads along x share a token,
// those along y have others. The launch sees to it that a head has whole packs, and that they are aligned.
template <bool NEOX>
__device__ __forceinline__ void rope(const int* __restrict__ positions, const float* __restrict__ table,
                                     __nv_bfloat16* __restrict__ q, __nv_bfloat16* __restrict__ k,
                                     size_t tokens, size_t q_heads, size_t k_heads, size_t head_dim) {
    const int HEADS = 2;
    const size_t token = (size_t)blockIdx.x * blockDim.y + threadIdx.y;
    if (token >= tokens) return;
    const float* row = table + positions[token] * head_dim;
    q += token * q_heads * head_dim;
    k += token * k_heads * head_dim;

    const unsigned half = head_dim / 2, chunks = half / 8, chunk = threadIdx.x % chunks;
    const unsigned second = chunks + chunk;
    // Packs of cosines: those of eight pairs that follow each other, or of four here and four half a head further.
    const unsigned near = NEOX ? 2 * chunk : chunk, far = NEOX ? near + 1 : second;
    const unsigned queries = q_heads, heads = q_heads + k_heads, step = blockDim.x / chunks;
    for (unsigned head = threadIdx.x / chunks; head < heads; head += HEADS * step) {
        Pack<__nv_bfloat16> one[HEADS], other[HEADS];
#pragma unroll
        for (int j = 0; j < HEADS; j++) {
            const unsigned number = head + j * step;
            __nv_bfloat16* x = number < queries ? q + number * head_dim : k + (number - queries) * head_dim;
            if (number < heads) {
                one[j] = load_pack(x, chunk);
                other[j] = load_pack(x, second);
            }
        }
        // Later than the heads, for which no thread need wait until it knows its position.
        const Pack<float> cos[2] = {load_pack(row, near), load_pack(row, far)};
        const Pack<float> sin[2] = {load_pack(row + half, near), load_pack(row + half, far)};
#pragma unroll
        for (int j = 0; j < HEADS; j++) {
            const unsigned number = head + j * step;
            __nv_bfloat16* x = number < queries ? q + number * head_dim : k + (number - queries) * head_dim;
            if (number < heads) {
                turn<NEOX>(one[j], other[j], cos, sin);
                store_pack(x, chunk, one[j]);
                store_pack(x, second, other[j]);
            }
        }
    }
}

extern "C" __global__ void __launch_bounds__(512)
    rope_neox(const int* positions, const float* table, __nv_bfloat16* q, __nv_bfloat16* k,
              size_t tokens, size_t q_heads, size_t k_heads, size_t head_dim) {
    rope<true>(positions, table, q, k, tokens, q_heads, k_heads, head_dim);
}
extern "C" __global__ void __launch_bounds__(512)
    rope_gptj(const int* positions, const float* table, __nv_bfloat16* q, __nv_bfloat16* k,
              size_t tokens, size_t q_heads, size_t k_heads, size_t head_dim) {
    rope<false>(positions, table, q, k, tokens, q_heads, k_heads, head_dim);
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
                                         size_t tokens, size_t q_heads, size_t k_heads, size_t head_dim) {
    rope_any<true>(positions, table, q, k, q_heads, k_heads, head_dim);
}
extern "C" __global__ void rope_gptj_any(const int* positions, const float* table, __nv_bfloat16* q, __nv_bfloat16* k,
                                         size_t tokens, size_t q_heads, size_t k_heads, size_t head_dim) {
    rope_any<false>(positions, table, q, k, q_heads, k_heads, head_dim);
}
