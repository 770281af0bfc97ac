// The unfused chain of attention: scores, their softmax, and the values that these weights add up.
//
// Arguments are the buffers read, the buffers written, and the numbers of heads of queries, of heads of keys and values, of tokens of a
// sequence and of elements of a head. Queries, keys, values and results have one head after the other, each with a row a token. Scores
// have, for each query of each head, one for each key. Heads of queries that follow each other have a head of keys in common where
// there are fewer of these.
//
// A block of the products has 32 queries of a head. The blocks of a head follow each other in the grid.
#include <math_constants.h>

#include "reduce.cuh"

// ANCHOR: scores
// 1,024 threads, of which each has one sum at a time: query threadIdx.x / 32 with each 32nd key.
extern "C" __global__ void scores_f32(const float* q, const float* k, float* scores, size_t heads, size_t kv_heads, size_t length,
                                      size_t head_dim) {
    __shared__ float queries[32][33], keys[32][33];
    const size_t tiles = (length + 31) / 32, head = blockIdx.x / tiles, top = blockIdx.x % tiles * 32;
    const int x = threadIdx.x % 32, y = threadIdx.x / 32;
    q += head * length * head_dim;
    k += head / (heads / kv_heads) * length * head_dim;
    scores += head * length * length;
    const float scale = rsqrtf(head_dim);
    for (size_t left = 0; left < length; left += 32) {
        float sum = 0.0f;
        for (size_t step = 0; step < head_dim; step += 32) {
            queries[y][x] = top + y < length && step + x < head_dim ? q[(top + y) * head_dim + step + x] : 0.0f;
            keys[y][x] = left + y < length && step + x < head_dim ? k[(left + y) * head_dim + step + x] : 0.0f;
            __syncthreads();
#pragma unroll
            for (int i = 0; i < 32; i++) sum += queries[y][i] * keys[x][i];
            __syncthreads();
        }
        if (top + y < length && left + x < length) scores[(top + y) * length + left + x] = sum * scale;
    }
}
// ANCHOR_END: scores

// ANCHOR: softmax
// A block has the scores of one query.
extern "C" __global__ void softmax_scores_f32(const float* scores, float* weights, size_t heads, size_t kv_heads, size_t length,
                                              size_t head_dim) {
    __shared__ float maxima[32], sums[32];
    scores += blockIdx.x * length;
    weights += blockIdx.x * length;
    float largest = -CUDART_INF_F;
    for (size_t key = threadIdx.x; key < length; key += blockDim.x) largest = fmaxf(largest, scores[key]);
    largest = reduce_block(largest, maxima, -CUDART_INF_F, Max());
    float sum = 0.0f;
    for (size_t key = threadIdx.x; key < length; key += blockDim.x) sum += expf(scores[key] - largest);
    const float factor = 1.0f / reduce_block(sum, sums, 0.0f, Sum());
    for (size_t key = threadIdx.x; key < length; key += blockDim.x) weights[key] = expf(scores[key] - largest) * factor;
}
// ANCHOR_END: softmax

// ANCHOR: values
extern "C" __global__ void weighted_values_f32(const float* weights, const float* v, float* out, size_t heads, size_t kv_heads,
                                               size_t length, size_t head_dim) {
    __shared__ float rows[32][32], columns[32][32];
    const size_t tiles = (length + 31) / 32, head = blockIdx.x / tiles, top = blockIdx.x % tiles * 32;
    const int x = threadIdx.x % 32, y = threadIdx.x / 32;
    weights += head * length * length;
    v += head / (heads / kv_heads) * length * head_dim;
    out += head * length * head_dim;
    for (size_t left = 0; left < head_dim; left += 32) {
        float sum = 0.0f;
        for (size_t step = 0; step < length; step += 32) {
            rows[y][x] = top + y < length && step + x < length ? weights[(top + y) * length + step + x] : 0.0f;
            columns[y][x] = step + y < length && left + x < head_dim ? v[(step + y) * head_dim + left + x] : 0.0f;
            __syncthreads();
#pragma unroll
            for (int i = 0; i < 32; i++) sum += rows[y][i] * columns[i][x];
            __syncthreads();
        }
        if (top + y < length && left + x < head_dim) out[(top + y) * head_dim + left + x] = sum;
    }
}
// ANCHOR_END: values
