// flash_attention_causal: out = softmax(mask(q k^T / sqrt(d))) v for each head, all bf16 with sums in f32. Query i sees keys 0 to i.
//
// q and out have `heads` heads of `length` rows of d elements, one head after the other; d is `head_dim`, 64 or 128. k and v have
// `kv_heads` heads: heads / kv_heads heads of queries, which follow each other, have one of keys and values in common.
//
// Unfused, this is five launches, with `length` scores for each query between them:
//     scores_bf16             scores = q k^T                    writes them
//     scale_scores_bf16       scaled = scores / sqrt(d)         reads and writes them
//     mask_scores_bf16        masked = -inf where j > i         reads and writes them
//     softmax_scores_bf16     weights = softmax of each row     reads and writes them
//     weighted_values_bf16    out = weights v                   reads them
// One kernel needs none of them in memory. Tiles of scores whose keys no query of the block sees it leaves out: it does not read
// their keys and values.
// Tiles in shared memory, how rows come into them, and how weights become fragments: attention.cuh.
//
// Grade it with: cargo xtask grade flash_attention_causal
#include <cuda_bf16.h>
#include <math_constants.h>

#include "attention.cuh"
#include "pack.cuh"
#include "reduce.cuh"
#include "tensor.cuh"

typedef __nv_bfloat16 bf16;

// TODO(kernel): `flash_attention` with two changes: which head of keys a head of queries has, and which keys a query sees.
//   - Copy your kernel of `flash_attention`. A block has QUERIES queries of one head, and each head has (length + QUERIES - 1) / QUERIES blocks.
//   - Heads of queries that follow each other have a head of keys in common: head h has number h / (heads / kv_heads). q and out begin at
//     head h, k and v at that one. Compute both in `size_t`.
//   - Query i sees keys 0 to i. The block whose last query is i needs no key behind it: end the loop over the keys there. Tiles behind it
//     are not to be read: `lean` looks at what each block reads.
//   - In the last tile of the loop some keys are seen by some queries: score j of query i is -CUDART_INF_F where j > i. In tiles before it
//     every key is seen by every query, and nothing is to be compared.
//   - Blocks of the last queries have up to length / KEYS times as much to do as those of the first. Blocks begin in the order of blockIdx.x:
//     begin with the last queries of all heads. Then no long block is left at the end, when most of the device has nothing to do.
extern "C" __global__ void __launch_bounds__(THREADS)
    flash_attention_causal(const bf16* q, const bf16* k, const bf16* v, bf16* out, size_t heads, size_t kv_heads, size_t length,
                           size_t head_dim) {
}
// END TODO
