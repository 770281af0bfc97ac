// The layernorm of long rows, from three walks over memory to one: all f32, with one launch each.
//
//     layernorm_wide_rows_walks     a block has a row, and reads it three times
//     layernorm_wide_rows_block     the block keeps it in shared memory, where it has room
//     layernorm_wide_rows_cluster   eight blocks share the row, and keep it
//     layernorm_wide_rows_packs     the same with accesses of 16 bytes
//     layernorm_wide_rows_once      mean and variance go from block to block together
//
// The grid is `rows` blocks, or eight for each row. The last two need a multiple of 4 columns and addresses that
// are multiples of 16. Clusters are there from compute capability 9.0 on.
#include <cooperative_groups.h>

#include "reduce.cuh"

// ANCHOR: walks
extern "C" __global__ void layernorm_wide_rows_walks(
    const float* __restrict__ x, const float* __restrict__ gamma, const float* __restrict__ beta,
    float* __restrict__ out, size_t rows, size_t columns) {
    __shared__ float sums[32], squares[32];
    const int width = columns, threads = blockDim.x;
    x += blockIdx.x * columns;
    out += blockIdx.x * columns;

    float sum = 0.0f;
#pragma unroll 8
    for (int c = threadIdx.x; c < width; c += threads) sum += x[c];
    const float mean = reduce_block(sum, sums, 0.0f, Sum()) / width;

    float square = 0.0f;
#pragma unroll 8
    for (int c = threadIdx.x; c < width; c += threads) square += (x[c] - mean) * (x[c] - mean);
    const float variance = reduce_block(square, squares, 0.0f, Sum()) / width;

    const float factor = rsqrtf(variance + 1e-5f);
#pragma unroll 8
    for (int c = threadIdx.x; c < width; c += threads) {
        out[c] = (x[c] - mean) * factor * gamma[c] + beta[c];
    }
}
// ANCHOR_END: walks

// ANCHOR: block
extern "C" __global__ void layernorm_wide_rows_block(
    const float* __restrict__ x, const float* __restrict__ gamma, const float* __restrict__ beta,
    float* __restrict__ out, size_t rows, size_t columns) {
    extern __shared__ float kept[];  // the row
    __shared__ float sums[32], squares[32];
    const int width = columns, threads = blockDim.x;
    x += blockIdx.x * columns;
    out += blockIdx.x * columns;

    float sum = 0.0f;
#pragma unroll 8
    for (int c = threadIdx.x; c < width; c += threads) {
        kept[c] = x[c];
        sum += kept[c];
    }
    const float mean = reduce_block(sum, sums, 0.0f, Sum()) / width;

    float square = 0.0f;
    for (int c = threadIdx.x; c < width; c += threads) square += (kept[c] - mean) * (kept[c] - mean);
    const float variance = reduce_block(square, squares, 0.0f, Sum()) / width;

    const float factor = rsqrtf(variance + 1e-5f);
    for (int c = threadIdx.x; c < width; c += threads) {
        out[c] = (kept[c] - mean) * factor * gamma[c] + beta[c];
    }
}
// ANCHOR_END: block

#if __CUDA_ARCH__ >= 900
namespace cg = cooperative_groups;

// ANCHOR: cluster
const int BLOCKS = 8;

__device__ __forceinline__ float sum_of_cluster(float value, float* part) {
    const cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) *part = value;
    cluster.sync();
    float sum = 0.0f;
    for (int rank = 0; rank < BLOCKS; rank++) sum += *cluster.map_shared_rank(part, rank);
    return sum;
}

extern "C" __global__ void __cluster_dims__(BLOCKS, 1, 1) layernorm_wide_rows_cluster(
    const float* __restrict__ x, const float* __restrict__ gamma, const float* __restrict__ beta,
    float* __restrict__ out, size_t rows, size_t columns) {
    extern __shared__ float kept[];  // this block's part of the row
    __shared__ float sums[32], squares[32], part_of_sum, part_of_square;
    const int rank = blockIdx.x % BLOCKS, threads = blockDim.x;
    const int width = columns, most = (width + BLOCKS - 1) / BLOCKS;
    const int begin = min(rank * most, width), length = min(most, width - begin);
    x += blockIdx.x / BLOCKS * columns + begin;
    out += blockIdx.x / BLOCKS * columns + begin;
    gamma += begin;
    beta += begin;

    float sum = 0.0f;
#pragma unroll 8
    for (int c = threadIdx.x; c < length; c += threads) {
        kept[c] = x[c];
        sum += kept[c];
    }
    sum = reduce_block(sum, sums, 0.0f, Sum());
    const float mean = sum_of_cluster(sum, &part_of_sum) / width;

    float square = 0.0f;
    for (int c = threadIdx.x; c < length; c += threads) square += (kept[c] - mean) * (kept[c] - mean);
    square = reduce_block(square, squares, 0.0f, Sum());
    const float variance = sum_of_cluster(square, &part_of_square) / width;

    const float factor = rsqrtf(variance + 1e-5f);
    for (int c = threadIdx.x; c < length; c += threads) {
        out[c] = (kept[c] - mean) * factor * gamma[c] + beta[c];
    }
    cg::this_cluster().sync();
}
// ANCHOR_END: cluster

// ANCHOR: packs
__device__ __forceinline__ float sum_of(float4 v) { return v.x + v.y + v.z + v.w; }

__device__ __forceinline__ float square_of(float4 v, float mean) {
    v = make_float4(v.x - mean, v.y - mean, v.z - mean, v.w - mean);
    return v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
}

__device__ __forceinline__ float4 normed(float4 v, float mean, float factor, float4 g, float4 b) {
    return make_float4((v.x - mean) * factor * g.x + b.x, (v.y - mean) * factor * g.y + b.y,
                       (v.z - mean) * factor * g.z + b.z, (v.w - mean) * factor * g.w + b.w);
}

extern "C" __global__ void __cluster_dims__(BLOCKS, 1, 1) layernorm_wide_rows_packs(
    const float* __restrict__ x, const float* __restrict__ gamma, const float* __restrict__ beta,
    float* __restrict__ out, size_t rows, size_t columns) {
    extern __shared__ float4 packs[];
    __shared__ float sums[32], squares[32], part_of_sum, part_of_square;
    const int rank = blockIdx.x % BLOCKS, threads = blockDim.x;
    const int width = columns / 4, most = (width + BLOCKS - 1) / BLOCKS;
    const int begin = min(rank * most, width), length = min(most, width - begin);
    const float4* from = (const float4*)(x + blockIdx.x / BLOCKS * columns) + begin;
    float4* to = (float4*)(out + blockIdx.x / BLOCKS * columns) + begin;
    const float4 *factors = (const float4*)gamma + begin, *offsets = (const float4*)beta + begin;

    float sum = 0.0f;
#pragma unroll 4
    for (int p = threadIdx.x; p < length; p += threads) {
        packs[p] = from[p];
        sum += sum_of(packs[p]);
    }
    sum = reduce_block(sum, sums, 0.0f, Sum());
    const float mean = sum_of_cluster(sum, &part_of_sum) / (int)columns;

    float square = 0.0f;
    for (int p = threadIdx.x; p < length; p += threads) square += square_of(packs[p], mean);
    square = reduce_block(square, squares, 0.0f, Sum());
    const float variance = sum_of_cluster(square, &part_of_square) / (int)columns;

    const float factor = rsqrtf(variance + 1e-5f);
    for (int p = threadIdx.x; p < length; p += threads) {
        to[p] = normed(packs[p], mean, factor, factors[p], offsets[p]);
    }
    cg::this_cluster().sync();
}
// ANCHOR_END: packs

// ANCHOR: once
extern "C" __global__ void __cluster_dims__(BLOCKS, 1, 1) layernorm_wide_rows_once(
    const float* __restrict__ x, const float* __restrict__ gamma, const float* __restrict__ beta,
    float* __restrict__ out, size_t rows, size_t columns) {
    extern __shared__ float4 packs[];
    __shared__ float sums[32], squares[32];
    __shared__ float2 parts[BLOCKS];  // mean and squares of each block
    cg::cluster_group cluster = cg::this_cluster();
    cluster.barrier_arrive();  // this block is there: the others may write into its memory
    const int rank = blockIdx.x % BLOCKS, threads = blockDim.x;
    const int width = columns / 4, most = (width + BLOCKS - 1) / BLOCKS;
    const int begin = min(rank * most, width), length = min(most, width - begin);
    const float4* from = (const float4*)(x + blockIdx.x / BLOCKS * columns) + begin;
    float4* to = (float4*)(out + blockIdx.x / BLOCKS * columns) + begin;
    const float4 *factors = (const float4*)gamma + begin, *offsets = (const float4*)beta + begin;

    float sum = 0.0f;
#pragma unroll 4
    for (int p = threadIdx.x; p < length; p += threads) {
        packs[p] = from[p];
        sum += sum_of(packs[p]);
    }
    // About the mean of the block's own part.
    const float own = reduce_block(sum, sums, 0.0f, Sum()) / max(4 * length, 1);
    float square = 0.0f;
    for (int p = threadIdx.x; p < length; p += threads) square += square_of(packs[p], own);
    square = reduce_block(square, squares, 0.0f, Sum());

    // To all blocks at once; then each reads its own memory, and may end when it likes.
    cluster.barrier_wait();
    const float2 part = make_float2(own, square);
    if (threadIdx.x < BLOCKS) cluster.map_shared_rank(parts, threadIdx.x)[rank] = part;
    cluster.sync();

    float mean = 0.0f, variance = 0.0f;
    for (int other = 0; other < BLOCKS; other++) {
        mean += parts[other].x * max(min(most, width - other * most), 0) / width;
    }
    for (int other = 0; other < BLOCKS; other++) {
        const float distance = parts[other].x - mean;
        const int elements = 4 * max(min(most, width - other * most), 0);
        variance += (parts[other].y + distance * distance * elements) / (int)columns;
    }

    const float factor = rsqrtf(variance + 1e-5f);
    for (int p = threadIdx.x; p < length; p += threads) {
        to[p] = normed(packs[p], mean, factor, factors[p], offsets[p]);
    }
}
// ANCHOR_END: once
#endif
