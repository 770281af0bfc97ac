// layernorm_wide_rows: layernorm of long rows. Eight blocks share a row, and each keeps its part in shared memory.

#include <cooperative_groups.h>

#include "reduce.cuh"

namespace cg = cooperative_groups;

#if __CUDA_ARCH__ >= 900
extern "C" __global__ void __cluster_dims__(8, 1, 1) layernorm_wide_rows(const float* x, const float* gamma, const float* beta,
                                                                         float* out, size_t rows, size_t columns) {
    extern __shared__ float kept[];
    __shared__ float sums[32], squares[32];
    __shared__ float parts[2];
    cg::cluster_group cluster = cg::this_cluster();
    int width = columns, most = (width + 7) / 8, begin = cluster.block_rank() * most;
    int length = min(most, width - begin);
    size_t start = blockIdx.x / 8 * columns + begin;

    float sum = 0.0f;
    for (int c = threadIdx.x; c < length; c += blockDim.x) {
        kept[c] = x[start + c];
        sum += kept[c];
    }
    sum = reduce_block(sum, sums, 0.0f, Sum());
    if (threadIdx.x == 0) parts[0] = sum;
    cluster.sync();
    float mean = 0.0f;
    for (int rank = 0; rank < 8; rank++) mean += cluster.map_shared_rank(parts, rank)[0] / width;

    float square = 0.0f;
    for (int c = threadIdx.x; c < length; c += blockDim.x) square += (kept[c] - mean) * (kept[c] - mean);
    square = reduce_block(square, squares, 0.0f, Sum());
    if (threadIdx.x == 0) parts[1] = square;
    cluster.sync();
    float variance = 0.0f;
    for (int rank = 0; rank < 8; rank++) variance += cluster.map_shared_rank(parts, rank)[1] / width;

    float scale = rsqrtf(variance + 1e-5f);
    for (int c = threadIdx.x; c < length; c += blockDim.x) {
        out[start + c] = (kept[c] - mean) * scale * gamma[begin + c] + beta[begin + c];
    }
    cluster.sync();
}
#endif

extern "C" __global__ void layernorm_wide_rows_long(const float* x, const float* gamma, const float* beta, float* out,
                                                    size_t rows, size_t columns) {
    __shared__ float sums[32], squares[32];
    size_t start = blockIdx.x * columns;
    float sum = 0.0f, square = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) sum += x[start + c];
    float mean = reduce_block(sum, sums, 0.0f, Sum()) / columns;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) square += (x[start + c] - mean) * (x[start + c] - mean);
    float scale = rsqrtf(reduce_block(square, squares, 0.0f, Sum()) / columns + 1e-5f);
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        out[start + c] = (x[start + c] - mean) * scale * gamma[c] + beta[c];
    }
}
