// attention_row as a ladder: three kernels of one launch each. What each reads serves more queries
// than in the one before.
//
// Arguments are q, k, v and out, and the numbers of heads of queries, of heads of keys and values,
// of tokens, and of elements of a head, which is 64 or 128. The blocks of a head follow each other
// in the grid.
#include <math_constants.h>

#include "reduce.cuh"

const int KEYS = 32; // of a tile

// ANCHOR: memory
// A warp has a query, and its lanes share the elements. For each key they add up one score
// together.
template <int HEAD>
__device__ void from_memory(const float* __restrict__ q, const float* __restrict__ k,
                            const float* __restrict__ v, float* __restrict__ out, size_t first,
                            size_t length) {
    const int EACH = HEAD / 32;
    const int lane = threadIdx.x % 32;
    const size_t query = first + threadIdx.x / 32;
    if (query >= length) return;
    float own[EACH], result[EACH] = {}, largest = -CUDART_INF_F, sum = 0.0f;
    for (int j = 0; j < EACH; j++) own[j] = q[query * HEAD + lane + 32 * j] * rsqrtf(HEAD);
    for (size_t key = 0; key < length; key++) {
        float score = 0.0f;
#pragma unroll
        for (int j = 0; j < EACH; j++) score += own[j] * k[key * HEAD + lane + 32 * j];
        score = reduce_lanes<32>(score, Sum());
        const float before = largest;
        largest = fmaxf(before, score);
        const float correction = expf(before - largest), weight = expf(score - largest);
        sum = sum * correction + weight;
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            result[j] = result[j] * correction + weight * v[key * HEAD + lane + 32 * j];
        }
    }
#pragma unroll
    for (int j = 0; j < EACH; j++) out[query * HEAD + lane + 32 * j] = result[j] / sum;
}
// ANCHOR_END: memory

// ANCHOR: tiles
// A block's shared memory. Rows of keys are 16 bytes longer than what they hold, so that
// neighbouring lanes read neighbouring keys from different banks.
template <int HEAD, int QUERIES>
struct Tiles {
    float queries[QUERIES][HEAD];
    float keys[KEYS][HEAD + 4];
    float values[KEYS][HEAD];
};

// A warp has N queries. What it reads of a key or a value serves all of them.
template <int HEAD, int QUERIES, int N>
__device__ void from_tiles(Tiles<HEAD, QUERIES>& tiles, const float* __restrict__ q,
                           const float* __restrict__ k, const float* __restrict__ v,
                           float* __restrict__ out, size_t first, size_t length) {
    const int EACH = HEAD / 32, THREADS = QUERIES / N * 32;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int at = threadIdx.x; at < QUERIES * HEAD; at += THREADS) {
        const bool inside = first + at / HEAD < length;
        const float value = inside ? q[first * HEAD + at] : 0.0f;
        tiles.queries[at / HEAD][at % HEAD] = value * rsqrtf(HEAD);
    }
    float largest[N], sum[N] = {}, result[N][EACH] = {};
    for (int n = 0; n < N; n++) largest[n] = -CUDART_INF_F;
    for (size_t key = 0; key < length; key += KEYS) {
#pragma unroll 4
        for (int at = threadIdx.x; at < KEYS * HEAD; at += THREADS) {
            const bool inside = key + at / HEAD < length;
            tiles.keys[at / HEAD][at % HEAD] = inside ? k[key * HEAD + at] : 0.0f;
            tiles.values[at / HEAD][at % HEAD] = inside ? v[key * HEAD + at] : 0.0f;
        }
        __syncthreads();
        float weight[N] = {};
#pragma unroll 8
        for (int i = 0; i < HEAD; i += 4) {
            const float4 of_key = *(const float4*)&tiles.keys[lane][i];
#pragma unroll
            for (int n = 0; n < N; n++) {
                const float4 of_query = *(const float4*)&tiles.queries[warp * N + n][i];
                weight[n] += of_query.x * of_key.x + of_query.y * of_key.y +
                             of_query.z * of_key.z + of_query.w * of_key.w;
            }
        }
#pragma unroll
        for (int n = 0; n < N; n++) {
            const float score = key + lane < length ? weight[n] : -CUDART_INF_F;
            const float before = largest[n];
            largest[n] = fmaxf(before, reduce_lanes<32>(score, Max()));
            const float correction = expf(before - largest[n]);
            weight[n] = expf(score - largest[n]);
            sum[n] = sum[n] * correction + weight[n];
#pragma unroll
            for (int j = 0; j < EACH; j++) result[n][j] *= correction;
        }
#pragma unroll 8
        for (int i = 0; i < KEYS; i++) {
            float value[EACH];
#pragma unroll
            for (int j = 0; j < EACH; j++) value[j] = tiles.values[i][lane * EACH + j];
#pragma unroll
            for (int n = 0; n < N; n++) {
                const float shared = __shfl_sync(0xffffffffu, weight[n], i);
#pragma unroll
                for (int j = 0; j < EACH; j++) result[n][j] += shared * value[j];
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int n = 0; n < N; n++) {
        const size_t query = first + warp * N + n;
        const float total = reduce_lanes<32>(sum[n], Sum());
        if (query >= length) continue;
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            out[query * HEAD + lane * EACH + j] = result[n][j] / total;
        }
    }
}
// ANCHOR_END: tiles

// The block's first query, and where its head begins among the queries and among the keys.
struct Place {
    size_t first, query, key;
};

template <int QUERIES>
__device__ __forceinline__ Place place(size_t heads, size_t kv_heads, size_t length, size_t head_dim) {
    const size_t blocks = (length + QUERIES - 1) / QUERIES, head = blockIdx.x / blocks, each = length * head_dim;
    return {blockIdx.x % blocks * QUERIES, head * each, head / (heads / kv_heads) * each};
}

extern "C" __global__ void attention_row_memory(const float* q, const float* k, const float* v, float* out, size_t heads,
                                                size_t kv_heads, size_t length, size_t head_dim) {
    const Place at = place<8>(heads, kv_heads, length, head_dim);
    if (head_dim == 64) {
        from_memory<64>(q + at.query, k + at.key, v + at.key, out + at.query, at.first, length);
    } else {
        from_memory<128>(q + at.query, k + at.key, v + at.key, out + at.query, at.first, length);
    }
}

template <int QUERIES, int N>
__device__ __forceinline__ void by_tiles(const float* q, const float* k, const float* v, float* out, const Place& at, size_t length,
                                         size_t head_dim) {
    __shared__ __align__(16) char memory[sizeof(Tiles<128, QUERIES>)];
    if (head_dim == 64) {
        from_tiles<64, QUERIES, N>(*(Tiles<64, QUERIES>*)memory, q + at.query, k + at.key, v + at.key, out + at.query, at.first, length);
    } else {
        from_tiles<128, QUERIES, N>(*(Tiles<128, QUERIES>*)memory, q + at.query, k + at.key, v + at.key, out + at.query, at.first, length);
    }
}

extern "C" __global__ void __launch_bounds__(256)
    attention_row_tiles(const float* q, const float* k, const float* v, float* out, size_t heads, size_t kv_heads, size_t length,
                        size_t head_dim) {
    by_tiles<8, 1>(q, k, v, out, place<8>(heads, kv_heads, length, head_dim), length, head_dim);
}

extern "C" __global__ void __launch_bounds__(128)
    attention_row_four(const float* q, const float* k, const float* v, float* out, size_t heads, size_t kv_heads, size_t length,
                       size_t head_dim) {
    by_tiles<16, 4>(q, k, v, out, place<16>(heads, kv_heads, length, head_dim), length, head_dim);
}
