// layernorm_wide_rows: out = (x - mean) / sqrt(variance + 1e-5) * gamma + beta, all f32, for every row of x, with
// the mean of the row and its variance: the mean of (x - mean)^2, over all of the row's elements.
//
// x and out are `rows` x `columns`, row after row; gamma and beta have an element for each column. The rows are
// long: 16,384 to 131,072 elements are timed, which is 64 to 512 KiB a row, and any length must be right.
//
// Unfused, this is four launches:                                   bytes per element
//     row_mean             means = the mean of each row                     4
//     subtract_from_rows   centred = x - means                              8
//     row_mean_of_squares  variances = the mean of each row's centred^2     4
//     normalize_rows       out = centred / sqrt(variances + 1e-5) * gamma + beta  8
// 24 bytes per element. One kernel can do it with 8: read x, write out.
//
// Grade it with: cargo xtask grade layernorm_wide_rows

#include <cooperative_groups.h>

#include "reduce.cuh"

// ANCHOR: kernel
// Clusters are there from compute capability 9.0 on.
#if __CUDA_ARCH__ >= 900
namespace cg = cooperative_groups;

// The sum of a value that each block of the cluster has. Every thread of the cluster must call it.
// `part` is shared memory for this sum alone.
__device__ float sum_of_cluster(float value, float* part) {
    const cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) *part = value;
    cluster.sync();
    float sum = 0.0f;
    for (int rank = 0; rank < 8; rank++) sum += *cluster.map_shared_rank(part, rank);
    return sum;
}

// A cluster of eight blocks has a row. Each block keeps its part of it in shared memory, so that x is
// read once.
extern "C" __global__ void __cluster_dims__(8, 1, 1)
    layernorm_wide_rows(const float* __restrict__ x, const float* __restrict__ gamma,
                        const float* __restrict__ beta, float* __restrict__ out, size_t rows,
                        size_t columns) {
    extern __shared__ float kept[];  // as many elements as the launch asks for: columns / 8, rounded up
    __shared__ float sums[32], squares[32], part_of_sum, part_of_square;
    const cg::cluster_group cluster = cg::this_cluster();
    // The block's part: the last ones may have fewer columns than the others, or none.
    const int width = columns, threads = blockDim.x, most = (width + 7) / 8;
    const int begin = min((int)cluster.block_rank() * most, width), length = min(most, width - begin);
    x += blockIdx.x / 8 * columns + begin;
    out += blockIdx.x / 8 * columns + begin;
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

    // The variance in a loop of its own: mean(x^2) - mean^2 would cancel.
    float square = 0.0f;
    for (int c = threadIdx.x; c < length; c += threads) square += (kept[c] - mean) * (kept[c] - mean);
    square = reduce_block(square, squares, 0.0f, Sum());
    const float factor = rsqrtf(sum_of_cluster(square, &part_of_square) / width + 1e-5f);

    for (int c = threadIdx.x; c < length; c += threads) {
        out[c] = (kept[c] - mean) * factor * gamma[c] + beta[c];
    }
    // A block's shared memory goes with the block: all stay until the others have read it.
    cluster.sync();
}
#endif
// ANCHOR_END: kernel

// One block has a row and reads it again each time. For GPUs without clusters, for rows that are too
// long to keep, and for those so short that eight blocks would have little to do.
extern "C" __global__ void layernorm_wide_rows_long(const float* __restrict__ x, const float* __restrict__ gamma,
                                                    const float* __restrict__ beta, float* __restrict__ out,
                                                    size_t rows, size_t columns) {
    __shared__ float sums[32], squares[32];
    x += blockIdx.x * columns;
    out += blockIdx.x * columns;

    float sum = 0.0f;
    for (size_t i = threadIdx.x; i < columns; i += blockDim.x) sum += x[i];
    const float mean = reduce_block(sum, sums, 0.0f, Sum()) / columns;

    float square = 0.0f;
    for (size_t i = threadIdx.x; i < columns; i += blockDim.x) square += (x[i] - mean) * (x[i] - mean);
    const float factor = rsqrtf(reduce_block(square, squares, 0.0f, Sum()) / columns + 1e-5f);

    for (size_t i = threadIdx.x; i < columns; i += blockDim.x) {
        out[i] = (x[i] - mean) * factor * gamma[i] + beta[i];
    }
}
