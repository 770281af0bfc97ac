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
#include "row.cuh"

namespace cg = cooperative_groups;

// ANCHOR: combine
// The mean of a part of a row, and the sum of (x - mean)^2 over the part.
struct Part {
    float mean, square;
};

// Both for a row whose parts have `most` elements each, or what is left of `columns`. A part's squares are about
// its own mean: about the row's they are larger by the square of the distance, for each element (Chan, Golub and
// LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances", 1979).
template <int PARTS>
__device__ __forceinline__ Part combine(const Part (&parts)[PARTS], int most, int columns) {
    Part row = {0.0f, 0.0f};
#pragma unroll
    for (int rank = 0; rank < PARTS; rank++) {
        row.mean += parts[rank].mean * max(min(most, columns - rank * most), 0);
    }
    row.mean /= columns;
#pragma unroll
    for (int rank = 0; rank < PARTS; rank++) {
        const float distance = parts[rank].mean - row.mean;
        row.square += parts[rank].square + distance * distance * max(min(most, columns - rank * most), 0);
    }
    return row;
}
// ANCHOR_END: combine

// ANCHOR: kernel
// A cluster of BLOCKS blocks has a row, of THREADS threads each, of which each holds at most VECTORS packs
// of 16 bytes in registers. The launch sees to it that the row has no more, that it has only whole packs,
// and that they are aligned.
template <int BLOCKS, int THREADS, int VECTORS>
__device__ void layernorm(const float* __restrict__ x, const float* __restrict__ gamma,
                          const float* __restrict__ beta, float* __restrict__ out, size_t columns) {
    __shared__ float sums[WARPS<THREADS>], squares[WARPS<THREADS>];
    __shared__ Part parts[BLOCKS];
    const int width = columns, most = (width / 4 + BLOCKS - 1) / BLOCKS * 4;
    const int rank = blockIdx.x % BLOCKS;
    const int begin = min(rank * most, width), length = min(most, width - begin);
    x += blockIdx.x / BLOCKS * columns + begin;
    out += blockIdx.x / BLOCKS * columns + begin;
    gamma += begin;
    beta += begin;
#if __CUDA_ARCH__ >= 900
    // The others learn that this block is there, and may write into its memory. None waits for it yet.
    if constexpr (BLOCKS > 1) cg::this_cluster().barrier_arrive();
#endif

    Row<float, THREADS, VECTORS> row;
    row.load_kept(x, length);
    const float sum = reduce_row<THREADS>(row.fold(0.0f, Sum()), sums, Sum());
    const float mean = sum / max(length, 1);
    row.apply([=](float v) { return v - mean; });
    const float square = row.fold(0.0f, [](float sum, float v) { return sum + v * v; });
    Part whole = {mean, reduce_row<THREADS>(square, squares, Sum())};
#if __CUDA_ARCH__ >= 900
    if constexpr (BLOCKS > 1) {
        // A block hands both numbers to all others at once. Each reads its own memory then, and may end when
        // it likes.
        cg::cluster_group cluster = cg::this_cluster();
        cluster.barrier_wait();
        if (threadIdx.x < BLOCKS) cluster.map_shared_rank(parts, threadIdx.x)[rank] = whole;
        cluster.sync();
        whole = combine(parts, most, width);
    }
#endif
    const float shift = mean - whole.mean, factor = rsqrtf(whole.square / width + 1e-5f);
    row.apply([=](float v, float g, float b) { return (v + shift) * factor * g + b; }, gamma, beta);
    row.write(out);
}

// One kernel for each number of blocks. Two blocks of 512 threads have room on a multiprocessor, with 64
// registers for each thread: half of them are the row.
#define KERNEL(BLOCKS, CLUSTER)                                                                  \
    extern "C" __global__ void CLUSTER __launch_bounds__(512, 2) layernorm_wide_rows_##BLOCKS(   \
        const float* __restrict__ x, const float* __restrict__ gamma,                            \
        const float* __restrict__ beta, float* __restrict__ out, size_t rows, size_t columns) {  \
        layernorm<BLOCKS, 512, 8>(x, gamma, beta, out, columns);                                 \
    }
KERNEL(1, )
#if __CUDA_ARCH__ >= 900
KERNEL(2, __cluster_dims__(2, 1, 1))
KERNEL(4, __cluster_dims__(4, 1, 1))
KERNEL(8, __cluster_dims__(8, 1, 1))
#endif
// ANCHOR_END: kernel

// Any row, by a block: element by element, and read three times.
extern "C" __global__ void __launch_bounds__(512)
    layernorm_wide_rows_any(const float* __restrict__ x, const float* __restrict__ gamma,
                            const float* __restrict__ beta, float* __restrict__ out, size_t rows, size_t columns) {
    __shared__ float sums[32], squares[32];
    x += blockIdx.x * columns;
    out += blockIdx.x * columns;

    float sum = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) sum += x[c];
    const float mean = reduce_block(sum, sums, 0.0f, Sum()) / columns;
    float square = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) square += (x[c] - mean) * (x[c] - mean);
    const float factor = rsqrtf(reduce_block(square, squares, 0.0f, Sum()) / columns + 1e-5f);
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) out[c] = (x[c] - mean) * factor * gamma[c] + beta[c];
}
