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

// TODO(kernel): one block per token, as a template over the pairing, and two kernels of one line each that use it, rope_neox and rope_gptj:
//   - a token has (q_heads + k_heads) * head_dim / 2 pairs. The threads of the block take them in turn: of pair p, the head is
//     p / (head_dim / 2), and the number in the head is p % (head_dim / 2). The first q_heads heads are in q, the others in k.
//   - q and k have different numbers of heads: where a token's heads begin is not the same in both.
//   - A thread reads both elements of its pair before it writes either.
//   - The template's parameter is the pairing, `template <bool NEOX>`, so that no thread asks for it.
// When it passes: two bytes per thread is a small access. What if a thread read eight pairs at once? "pack.cuh" has what it takes.
#include <cuda_bf16.h>

extern "C" __global__ void rope_neox(const int* positions, const float* table, __nv_bfloat16* q, __nv_bfloat16* k,
                                     size_t tokens, size_t q_heads, size_t k_heads, size_t head_dim) {
}
// END TODO
