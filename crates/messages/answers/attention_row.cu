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

// ANCHOR: kernel
// The results of QUERIES queries of one head, from number `first` on. q, k, v and out begin where the head does.
template <int HEAD>
__device__ void attend(Tiles<HEAD>& tiles, const float* __restrict__ q, const float* __restrict__ k, const float* __restrict__ v,
                       float* __restrict__ out, size_t first, size_t length) {
    const int EACH = HEAD / 32; // Neighbouring elements of a result that a lane has.
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const size_t own = first + warp * EACH_WARP; // The first query of the warp.
    // Queries that there are not are zeros: all threads of the block copy, and wait at the barriers.
    for (int i = lane; i < EACH_WARP * HEAD; i += 32) {
        const float element = own + i / HEAD < length ? q[own * HEAD + i] : 0.0f;
        tiles.queries[warp * EACH_WARP + i / HEAD][i % HEAD] = element * rsqrtf(HEAD);
    }

    // Of the scores so far; each lane adds up the weights of its own keys.
    float largest[EACH_WARP], sum[EACH_WARP] = {}, result[EACH_WARP][EACH] = {};
    for (int n = 0; n < EACH_WARP; n++) largest[n] = -CUDART_INF_F;
    for (size_t key = 0; key < length; key += KEYS) {
#pragma unroll 4
        for (int i = 0; i < KEYS * HEAD; i += THREADS) {
            const int at = i + threadIdx.x;
            const bool inside = key + at / HEAD < length;
            tiles.keys[at / HEAD][at % HEAD] = inside ? k[key * HEAD + at] : 0.0f;
            tiles.values[at / HEAD][at % HEAD] = inside ? v[key * HEAD + at] : 0.0f;
        }
        __syncthreads();

        float scores[EACH_WARP] = {};
#pragma unroll 8
        for (int i = 0; i < HEAD; i += 4) {
            const float4 one = *(const float4*)&tiles.keys[lane][i];
#pragma unroll
            for (int n = 0; n < EACH_WARP; n++) {
                const float4 other = *(const float4*)&tiles.queries[warp * EACH_WARP + n][i];
                scores[n] += one.x * other.x + one.y * other.y + one.z * other.z + one.w * other.w;
            }
        }

        // What was added up so far was relative to the largest score so far.
        float weights[EACH_WARP];
#pragma unroll
        for (int n = 0; n < EACH_WARP; n++) {
            const float score = key + lane < length ? scores[n] : -CUDART_INF_F; // No key: its weight is 0.
            const float before = largest[n];
            largest[n] = fmaxf(before, reduce_lanes<32>(score, Max()));
            const float correction = expf(before - largest[n]);
            weights[n] = expf(score - largest[n]);
            sum[n] = sum[n] * correction + weights[n];
#pragma unroll
            for (int j = 0; j < EACH; j++) result[n][j] *= correction;
        }
#pragma unroll 8
        for (int i = 0; i < KEYS; i++) {
            float value[EACH];
#pragma unroll
            for (int j = 0; j < EACH; j++) value[j] = tiles.values[i][lane * EACH + j];
#pragma unroll
            for (int n = 0; n < EACH_WARP; n++) {
                const float weight = __shfl_sync(0xffffffffu, weights[n], i);
#pragma unroll
                for (int j = 0; j < EACH; j++) result[n][j] += weight * value[j];
            }
        }
        // The next tiles take the place of these, which every warp must have read.
        __syncthreads();
    }
#pragma unroll
    for (int n = 0; n < EACH_WARP; n++) {
        const float total = reduce_lanes<32>(sum[n], Sum());
        if (own + n >= length) continue;
#pragma unroll
        for (int j = 0; j < EACH; j++) out[(own + n) * HEAD + lane * EACH + j] = result[n][j] / total;
    }
}
// ANCHOR_END: kernel

// The blocks of a head follow each other, so that those that run at the same time read the same keys.
extern "C" __global__ void __launch_bounds__(THREADS) attention_row(const float* q, const float* k, const float* v, float* out,
                                                                          size_t heads, size_t length, size_t head_dim) {
    __shared__ __align__(16) char memory[sizeof(Tiles<128>)];
    const size_t blocks = (length + QUERIES - 1) / QUERIES; // of a head
    const size_t first = blockIdx.x % blocks * QUERIES, begin = blockIdx.x / blocks * length * head_dim;
    if (head_dim == 64) {
        attend<64>(*(Tiles<64>*)memory, q + begin, k + begin, v + begin, out + begin, first, length);
    } else {
        attend<128>(*(Tiles<128>*)memory, q + begin, k + begin, v + begin, out + begin, first, length);
    }
}
