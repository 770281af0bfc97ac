// attention_row: out = softmax(q k^T / sqrt(d)) v for each head, all f32.
//
// q, k, v and out have `heads` heads of `length` rows of d elements, one head after the other; d is `head_dim`, 64 or 128. A query's
// score with a key is the sum of their products, over the root of d. Its weights are the softmax of its scores with all keys of its head,
// and its result is the sum of all values of the head, each times its weight.
//
// Unfused, this is three launches, with `length` scores for each query between them:
//     scores_f32              scores = q k^T / sqrt(d)          writes them
//     softmax_scores_f32      weights = softmax of each row     reads and writes them
//     weighted_values_f32     out = weights v                   reads them
// One kernel needs none of them in memory: read q, k and v, write out.
//
// Grade it with: cargo xtask grade attention_row
#include <math_constants.h>

#include "reduce.cuh"

const int THREADS = 128;
const int EACH_WARP = 4;                      // A warp has so many queries: what it reads of a key or a value serves all of them.
const int QUERIES = THREADS / 32 * EACH_WARP; // A block has those of one head.
const int KEYS = 32;                          // It holds so many keys and values at a time: in the scores each lane has a key.

// What a block holds in shared memory. Rows of keys are 16 bytes longer than what they hold: then the lanes of a quarter of a warp, which
// read 16 bytes each of different keys, read from different banks.
template <int HEAD>
struct Tiles {
    float queries[QUERIES][HEAD];
    float keys[KEYS][HEAD + 4];
    float values[KEYS][HEAD];
};

// TODO(kernel): one block of THREADS threads for QUERIES queries of one head. The blocks of a head follow each other in the grid.
//   - Each head has (length + QUERIES - 1) / QUERIES blocks: compute the block's head and its first query from blockIdx.x, in `size_t`.
//   - Write a function `template <int HEAD> __device__ void attend(Tiles<HEAD>& tiles, ...)` for what follows, and call it with 64 or 128 for
//     `head_dim`. `__shared__ __align__(16) char memory[sizeof(Tiles<128>)];` has room for either: `*(Tiles<64>*)memory`.
//   - Warp w of the block has the EACH_WARP queries from first + w * EACH_WARP on. Put them into `tiles.queries`, each element times
//     `rsqrtf(HEAD)`, with zeros for queries that do not exist. A warp without queries still copies, and waits at barriers.
//   - A loop goes over the keys in steps of KEYS. All threads copy KEYS rows of k into `tiles.keys` and of v into `tiles.values`, with
//     zeros for keys from `length` on. Then comes `__syncthreads()`, and a second one at the loop's end.
//   - Lane l has the scores of the warp's queries with key l of the tile: sums of HEAD products. Read a `float4` of key and query at a time,
//     and use that of the key for all queries. If there is no such key, the score is -CUDART_INF_F.
//   - `reduce_lanes<32>(score, Max())` of reduce.cuh is a query's largest score in the tile. The sums so far are relative to the largest
//     score of the previous tiles: multiply them by exp(before - largest).
//   - Each lane has HEAD / 32 neighbouring elements of each result. `__shfl_sync(0xffffffffu, weight, i)` gives all lanes the weight
//     of key i of the tile.
//   - At the end divide by the sum of all weights, and write the results of queries that exist.
extern "C" __global__ void __launch_bounds__(THREADS) attention_row(const float* q, const float* k, const float* v, float* out,
                                                                          size_t heads, size_t length, size_t head_dim) {
}
// END TODO
