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

// ANCHOR: kernel
// The results of QUERIES queries of one head, from number `first` on. q and out begin where the head does, k and v where its keys do.
template <int HEAD, bool PACKS>
__device__ void attend(Tiles<HEAD>& tiles, const bf16* __restrict__ q, const bf16* __restrict__ k, const bf16* __restrict__ v,
                       bf16* __restrict__ out, size_t first, size_t length) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    // The queries stay in registers: HEAD / 16 fragments of 16 x 16.
    unsigned queries[HEAD / 16][4];
    copy_rows<HEAD, PACKS>(tiles.keys, q, first, length);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < HEAD / 16; i++) load_matrices(queries[i], &tiles.keys[16 * warp + lane % 16][16 * i + lane / 16 * 8]);
    __syncthreads();

    // Lane l has two queries, number l / 4 of its warp and number l / 4 + 8. Of the results it has the sums that `multiply` gives it.
    float largest[2] = {-CUDART_INF_F, -CUDART_INF_F}, sum[2] = {};
    float result[HEAD / 8][4] = {};
    // exp(x / sqrt(HEAD)) is 2 to the power of x times this.
    const float scale = 1.44269504f * rsqrtf(HEAD);
    // Of the keys behind the block's last query it needs none. As KEYS is QUERIES, the last tile is the one that has both kinds.
    for (size_t key = 0; key <= first; key += KEYS) {
        copy_rows<HEAD, PACKS>(tiles.keys, k, key, length);
        copy_rows<HEAD, PACKS>(tiles.values, v, key, length);
        __syncthreads();

        // Scores: a row of the keys is a column of the right factor, as its fragments want it.
        float scores[KEYS / 8][4] = {};
#pragma unroll
        for (int i = 0; i < HEAD / 16; i++) {
#pragma unroll
            for (int j = 0; j < KEYS / 16; j++) {
                unsigned keys[4];
                load_matrices(keys, &tiles.keys[16 * j + lane / 16 * 8 + lane % 8][16 * i + lane / 8 % 2 * 8]);
                multiply(scores[2 * j], queries[i], keys[0], keys[1]);
                multiply(scores[2 * j + 1], queries[i], keys[2], keys[3]);
            }
        }
        if (key == first) {
            // Seen by none but later queries: its weight is 0. Keys that there are not are among these.
            const int query = 16 * warp + lane / 4;
#pragma unroll
            for (int j = 0; j < KEYS / 8; j++) {
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    if (8 * j + lane % 4 * 2 + i % 2 > query + i / 2 * 8) scores[j][i] = -CUDART_INF_F;
                }
            }
        }

        // What was added up so far was relative to the largest score so far. Four lanes share a query.
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const float before = largest[half];
#pragma unroll
            for (int j = 0; j < KEYS / 8; j++) {
                largest[half] = fmaxf(largest[half], fmaxf(scores[j][2 * half], scores[j][2 * half + 1]));
            }
            largest[half] = reduce_lanes<4>(largest[half], Max());
            const float correction = exp2f((before - largest[half]) * scale);
            sum[half] *= correction;
#pragma unroll
            for (int j = 0; j < HEAD / 8; j++) {
                result[j][2 * half] *= correction;
                result[j][2 * half + 1] *= correction;
            }
#pragma unroll
            for (int j = 0; j < KEYS / 8; j++) {
#pragma unroll
                for (int i = 2 * half; i < 2 * half + 2; i++) {
                    scores[j][i] = exp2f((scores[j][i] - largest[half]) * scale);
                    sum[half] += scores[j][i];
                }
            }
        }

        // The weights lie where a left factor's fragment has them: two fragments of 16 x 8 sums are one of 16 x 16.
#pragma unroll
        for (int j = 0; j < KEYS / 16; j++) {
            const unsigned weights[4] = {pair_of(scores[2 * j][0], scores[2 * j][1]), pair_of(scores[2 * j][2], scores[2 * j][3]),
                                         pair_of(scores[2 * j + 1][0], scores[2 * j + 1][1]),
                                         pair_of(scores[2 * j + 1][2], scores[2 * j + 1][3])};
#pragma unroll
            for (int i = 0; i < HEAD / 16; i++) {
                unsigned values[4];
                load_matrices_transposed(values, &tiles.values[16 * j + lane % 16][16 * i + lane / 16 * 8]);
                multiply(result[2 * i], weights, values[0], values[1]);
                multiply(result[2 * i + 1], weights, values[2], values[3]);
            }
        }
        // The next tiles take the place of these, which every warp must have read.
        __syncthreads();
    }
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const size_t query = first + 16 * warp + 8 * half + lane / 4;
        const float factor = 1.0f / reduce_lanes<4>(sum[half], Sum());
        if (query >= length) continue;
#pragma unroll
        for (int j = 0; j < HEAD / 8; j++) {
            const __nv_bfloat162 both = __floats2bfloat162_rn(result[j][2 * half] * factor, result[j][2 * half + 1] * factor);
            bf16* to = &out[query * HEAD + 8 * j + lane % 4 * 2];
            if constexpr (PACKS) {
                *(__nv_bfloat162*)to = both;
            } else {
                to[0] = both.x;
                to[1] = both.y;
            }
        }
    }
}
// ANCHOR_END: kernel

// Blocks begin in the order of their numbers. Those with the most keys come first, of all heads, and at the end short ones fill what
// the others leave: a launch that ends with long blocks ends with most SMs idle.
extern "C" __global__ void __launch_bounds__(THREADS)
    flash_attention_causal(const bf16* q, const bf16* k, const bf16* v, bf16* out, size_t heads, size_t kv_heads, size_t length,
                           size_t head_dim) {
    __shared__ __align__(16) char memory[sizeof(Tiles<128>)];
    const size_t blocks = (length + QUERIES - 1) / QUERIES; // of a head
    const size_t head = blockIdx.x % heads, first = (blocks - 1 - blockIdx.x / heads) * QUERIES;
    const size_t begin = head * length * head_dim, kv_begin = head / (heads / kv_heads) * length * head_dim;
    const bool packs = aligned16(q, k, v, out);
    Tiles<64>& small = *(Tiles<64>*)memory;
    Tiles<128>& large = *(Tiles<128>*)memory;
    if (head_dim == 64 && packs) {
        attend<64, true>(small, q + begin, k + kv_begin, v + kv_begin, out + begin, first, length);
    } else if (head_dim == 64) {
        attend<64, false>(small, q + begin, k + kv_begin, v + kv_begin, out + begin, first, length);
    } else if (packs) {
        attend<128, true>(large, q + begin, k + kv_begin, v + kv_begin, out + begin, first, length);
    } else {
        attend<128, false>(large, q + begin, k + kv_begin, v + kv_begin, out + begin, first, length);
    }
}
