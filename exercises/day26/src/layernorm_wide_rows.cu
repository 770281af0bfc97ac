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

// TODO(kernel): a cluster of eight blocks per row, each with an eighth of it on chip, so that x is read once.
//   - The eight blocks of a cluster run at the same time, and reach each other's shared memory. `#include
//     <cooperative_groups.h>` has `cooperative_groups::this_cluster()`: its `block_rank()` is 0 to 7, and its `sync()`
//     is a barrier for all threads of the eight blocks. The row of a block is blockIdx.x / 8.
//   - `extern __shared__ float kept[];` is as much shared memory as the launch asks for: room for the block's part of
//     the row. columns / 8, rounded up, leaves fewer columns for the last blocks, or none.
//   - `#include "reduce.cuh"` (kernels/include/reduce.cuh) has reduce_block(value, partial, none, Sum()), which gives
//     the sum to every thread of the block. `partial` is a `__shared__ float[32]`, another one for each sum.
//   - Thread 0 puts the block's sum into a `__shared__ float`. After `sync()` every thread reads that of all eight
//     blocks: `*cluster.map_shared_rank(&part, rank)` is the one of another block. Then the same for the variance, with
//     another variable.
//   - The mean of the squares minus the square of the mean is the variance only in exact arithmetic: in f32 a row
//     that lies far from zero loses all of it.
//   - When a block ends, its shared memory ends: no block may end while another one reads it.
//   - GPUs before compute capability 9.0 have no clusters, and their compiler knows none: put the kernel between
//     `#if __CUDA_ARCH__ >= 900` and `#endif`. They need a second kernel, with one block per row, which reads its row
//     again instead of keeping it. The same kernel does rows that eight blocks have no room for, and short ones.
// When it passes: a row also has room in registers, and a thread can move 16 bytes at once. See "row.cuh".
extern "C" __global__ void layernorm_wide_rows(const float* x, const float* gamma, const float* beta, float* out,
                                               size_t rows, size_t columns) {
}
// END TODO
