// flash_attention_causal: out = softmax(mask(q k^T / sqrt(d))) v for each head, all bf16 with sums in f32. Query i sees keys 0 to i.
//
// q and out have `heads` heads of `length` rows of d elements, one head after the other; d is `head_dim`, 64 or 128. k and v have
// `kv_heads` heads: heads / kv_heads neighbouring heads of queries share one head of keys and values.
//
// Unfused, this is five launches, with `length` scores for each query between them:
//     scores_bf16             scores = q k^T                    writes them
//     scale_scores_bf16       scaled = scores / sqrt(d)         reads and writes them
//     mask_scores_bf16        masked = -inf where j > i         reads and writes them
//     softmax_scores_bf16     weights = softmax of each row     reads and writes them
//     weighted_values_bf16    out = weights v                   reads them
// One kernel needs none of them in memory. It leaves out tiles of scores whose keys no query of the block sees: it does not read
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
//   - Neighbouring heads of queries share a head of keys: head h has the keys of head h / (heads / kv_heads). Begin q and out at head h,
//     and k and v at the head of the keys. Compute both in `size_t`.
//   - Query i sees keys 0 to i. The block whose last query is i needs no key after i: end the loop over the keys there. Do not read any
//     tile after that: `lean` looks at what each block reads.
//   - In the last tile of the loop, a query sees only some of the keys: score j of query i is -CUDART_INF_F if j > i. In the tiles before,
//     every query sees every key, and you need not compare.
//   - Blocks of the last queries have up to length / KEYS times as much work as those of the first. Blocks begin in the order of blockIdx.x:
//     give the first numbers to the last queries of all heads. Then no long block runs at the end, when most SMs have nothing to do.
extern "C" __global__ void __launch_bounds__(THREADS)
    flash_attention_causal(const bf16* q, const bf16* k, const bf16* v, bf16* out, size_t heads, size_t kv_heads, size_t length,
                           size_t head_dim) {
}
// END TODO
