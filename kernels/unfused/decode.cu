// The unfused chain of one new token that attends to a paged cache: pages that are gathered, scores, their softmax, and the values
// that these weights add up.
//
// Arguments are the buffers read, the buffers written, and the numbers of sequences, of heads of queries, of heads of keys and values,
// of elements of a head, and of pages of a row of the table. What is gathered has, for each sequence and head of keys, room for 16 tokens
// a page. Scores have, for each sequence and head of queries, as much room. Heads of queries that follow each other have a head of keys
// in common where there are fewer of these. All blocks have 256 threads, and buffers begin at multiples of 16 bytes.
#include <cuda_bf16.h>
#include <math_constants.h>

#include "pack.cuh"
#include "reduce.cuh"

// ANCHOR: gather
// A block has a page of a sequence.
extern "C" __global__ void gather_pages(const __nv_bfloat16* cache, const int* block_table, const int* lengths,
                                        __nv_bfloat16* gathered, size_t sequences, size_t q_heads, size_t kv_heads, size_t head_dim,
                                        size_t pages) {
    const size_t sequence = blockIdx.x / pages, page = blockIdx.x % pages;
    const size_t tokens = lengths[sequence], packs = head_dim / 8;
    if (16 * page >= tokens) return;
    const size_t from = (size_t)block_table[blockIdx.x] * kv_heads * 16 * packs;
    for (size_t i = threadIdx.x; i < kv_heads * 16 * packs; i += 256) {
        const size_t head = i / (16 * packs), token = 16 * page + i / packs % 16;
        if (token >= tokens) continue;
        const size_t to = ((sequence * kv_heads + head) * 16 * pages + token) * packs + i % packs;
        store_pack(gathered, to, load_pack(cache, from + i));
    }
}
// ANCHOR_END: gather

// ANCHOR: scores
// A block has 64 tokens of a sequence and head of keys, and eight lanes a token: each adds up every eighth pack of a product. A key that is
// loaded serves four heads of queries.
extern "C" __global__ void decode_scores(const __nv_bfloat16* q, const __nv_bfloat16* keys, const int* lengths, float* scores,
                                         size_t sequences, size_t q_heads, size_t kv_heads, size_t head_dim, size_t pages) {
    const size_t room = 16 * pages, parts = (room + 63) / 64, group = q_heads / kv_heads, packs = head_dim / 8;
    const size_t row = blockIdx.x / parts, sequence = row / kv_heads, tokens = lengths[sequence];
    const float scale = rsqrtf(head_dim);
    // All loads of keys before the first product: two tokens, each with at most two packs.
    const int lane = threadIdx.x % 8;
    Pack<__nv_bfloat16> key[2][2];
#pragma unroll
    for (int step = 0; step < 2; step++) {
        const size_t token = blockIdx.x % parts * 64 + 32 * step + threadIdx.x / 8;
#pragma unroll
        for (int j = 0; j < 2; j++) {
            key[step][j].bits = make_uint4(0, 0, 0, 0);
            if (token < tokens && lane + 8 * j < packs) key[step][j] = load_pack(keys, (row * room + token) * packs + lane + 8 * j);
        }
    }
    for (size_t i = 0; i < group; i++) {
        const size_t head = row * group + i; // of all sequences
        float query[2][8] = {};
#pragma unroll
        for (int j = 0; j < 2; j++) {
            if (lane + 8 * j >= packs) break;
            const Pack<__nv_bfloat16> pack = load_pack(q, head * packs + lane + 8 * j);
#pragma unroll
            for (int k = 0; k < 8; k++) query[j][k] = to_float(pack.at[k]);
        }
#pragma unroll
        for (int step = 0; step < 2; step++) {
            const size_t token = blockIdx.x % parts * 64 + 32 * step + threadIdx.x / 8;
            float sum = 0.0f;
#pragma unroll
            for (int j = 0; j < 2; j++) {
#pragma unroll
                for (int k = 0; k < 8; k++) sum += query[j][k] * to_float(key[step][j].at[k]);
            }
            sum = reduce_lanes<8>(sum, Sum());
            if (token < tokens && lane == 0) scores[head * room + token] = sum * scale;
        }
    }
}
// ANCHOR_END: scores

// ANCHOR: softmax
// A block has the scores of a sequence's head of queries.
extern "C" __global__ void decode_softmax(const float* scores, const int* lengths, float* weights, size_t sequences, size_t q_heads,
                                          size_t kv_heads, size_t head_dim, size_t pages) {
    __shared__ float maxima[32], sums[32];
    const size_t tokens = lengths[blockIdx.x / q_heads];
    scores += blockIdx.x * 16 * pages;
    weights += blockIdx.x * 16 * pages;
    float largest = -CUDART_INF_F;
    for (size_t token = threadIdx.x; token < tokens; token += 256) largest = fmaxf(largest, scores[token]);
    largest = reduce_block(largest, maxima, -CUDART_INF_F, Max());
    float sum = 0.0f;
    for (size_t token = threadIdx.x; token < tokens; token += 256) sum += expf(scores[token] - largest);
    const float factor = 1.0f / reduce_block(sum, sums, 0.0f, Sum());
    for (size_t token = threadIdx.x; token < tokens; token += 256) weights[token] = expf(scores[token] - largest) * factor;
}
// ANCHOR_END: softmax

// ANCHOR: values
// A block has 32 elements of a sequence's head of keys: four lanes have them of every 64th token, for four heads of queries at a time.
extern "C" __global__ void decode_values(const float* weights, const __nv_bfloat16* values, const int* lengths, __nv_bfloat16* out,
                                         size_t sequences, size_t q_heads, size_t kv_heads, size_t head_dim, size_t pages) {
    __shared__ float partial[4][8][32];
    const size_t room = 16 * pages, slices = head_dim / 32, group = q_heads / kv_heads, packs = head_dim / 8;
    const size_t row = blockIdx.x / slices, first = blockIdx.x % slices * 32, tokens = lengths[row / kv_heads];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (size_t head = 0; head < group; head += 4) {
        float sums[4][8] = {};
#pragma unroll 4
        for (size_t token = threadIdx.x / 4; token < tokens; token += 64) {
            const Pack<__nv_bfloat16> value = load_pack(values, (row * room + token) * packs + first / 8 + threadIdx.x % 4);
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const float weight = head + i < group ? weights[(row * group + head + i) * room + token] : 0.0f;
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    const float2 both = to_float2(value, j);
                    sums[i][2 * j] += weight * both.x;
                    sums[i][2 * j + 1] += weight * both.y;
                }
            }
        }
        // Every fourth lane has the same elements.
#pragma unroll
        for (int i = 0; i < 4; i++) {
#pragma unroll
            for (int j = 0; j < 8; j++) {
#pragma unroll
                for (int distance = 16; distance >= 4; distance /= 2) {
                    sums[i][j] += __shfl_xor_sync(0xffffffffu, sums[i][j], distance);
                }
                if (lane < 4) partial[i][warp][8 * lane + j] = sums[i][j];
            }
        }
        __syncthreads();
        if (warp < 4 && head + warp < group) {
            float sum = 0.0f;
#pragma unroll
            for (int i = 0; i < 8; i++) sum += partial[warp][i][lane];
            out[(row * group + head + warp) * head_dim + first + lane] = __float2bfloat16(sum);
        }
        __syncthreads();
    }
}
// ANCHOR_END: values
