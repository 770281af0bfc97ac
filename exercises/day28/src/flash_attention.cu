// flash_attention: out = softmax(q k^T / sqrt(d)) v for each head, all bf16 with sums in f32.
//
// q, k, v and out have `heads` heads of `length` rows of d elements, one head after the other; d is `head_dim`, 64 or 128.
//
// Unfused, this is four launches, with `length` scores for each query between them:
//     scores_bf16             scores = q k^T                    writes them
//     scale_scores_bf16       scaled = scores / sqrt(d)         reads and writes them
//     softmax_scores_bf16     weights = softmax of each row     reads and writes them
//     weighted_values_bf16    out = weights v                   reads them
// One kernel needs none of them in memory, and makes both products on tensor cores.
// Tiles in shared memory, how rows come into them, and how weights become fragments: attention.cuh.
//
// Grade it with: cargo xtask grade flash_attention
#include <cuda_bf16.h>
#include <math_constants.h>

#include "attention.cuh"
#include "pack.cuh"
#include "reduce.cuh"
#include "tensor.cuh"

typedef __nv_bfloat16 bf16;

// TODO(kernel): one block of THREADS threads for QUERIES queries of one head. The blocks of a head follow each other in the grid.
//   - Each head has (length + QUERIES - 1) / QUERIES blocks: compute the block's head and its first query from blockIdx.x, in `size_t`.
//   - Write a function `template <int HEAD, bool PACKS> __device__ void attend(Tiles<HEAD>& tiles, ...)` for what follows. Call it with 64 or 128
//     for `head_dim`, and with PACKS true if `aligned16(q, k, v, out)` of pack.cuh is true. `__shared__ __align__(16) char
//     memory[sizeof(Tiles<128>)];` has room for either: `*(Tiles<64>*)memory`.
//   - Four warps have 16 queries each. `copy_rows<HEAD, PACKS>(tiles.keys, q, first, length)` brings them on the chip. After a barrier
//     `load_matrices` puts them into `unsigned queries[HEAD / 16][4]`, where they stay. After a second barrier the tile is free for keys.
//   - A loop goes over the keys in steps of KEYS. Copy the rows of k and of v, then `__syncthreads()`. At the loop's end comes a second one.
//   - `float scores[KEYS / 8][4] = {};` are 16 x KEYS scores, which `multiply` adds up. A key's row is a column of the right factor, so load
//     it with `load_matrices`, not transposed.
//   - Keys from `length` on get the score -CUDART_INF_F.
//   - Each lane has two queries, l / 4 and l / 4 + 8, which it shares with three other lanes: `reduce_lanes<4>` of reduce.cuh. Keep `largest`,
//     `sum` and `float result[HEAD / 8][4]` for both. When the largest score changes, correct `sum` and `result`.
//   - exp(x / sqrt(HEAD)) is `exp2f(x * 1.44269504f * rsqrtf(HEAD))`.
//   - `pair_of` turns the weights into fragments: the sums of two fragments of 16 x 8 are where the left factor of 16 x 16 needs them. Load
//     values with `load_matrices_transposed`.
//   - At the end divide by the sum of all weights. Write pairs if PACKS is true, and single elements otherwise.
extern "C" __global__ void __launch_bounds__(THREADS) flash_attention(const bf16* q, const bf16* k, const bf16* v, bf16* out,
                                                                      size_t heads, size_t length, size_t head_dim) {
}
// END TODO
