// Four blocks share a row, read it again each time, and add up in the shared memory of the first one.
#include <cooperative_groups.h>

#include "reduce.cuh"

namespace cg = cooperative_groups;

extern "C" __global__ void __cluster_dims__(4, 1, 1) layernorm_wide_rows(const float* x, const float* gamma, const float* beta, float* out, size_t rows, size_t columns) {
    __shared__ float sums[32], squares[32];
    __shared__ float total[2];
    cg::cluster_group cluster = cg::this_cluster();
    size_t start = blockIdx.x / 4 * columns;
    int first = cluster.block_rank() * blockDim.x + threadIdx.x;
    int step = 4 * blockDim.x;
    if (threadIdx.x < 2) {
        total[threadIdx.x] = 0.0f;
    }
    cluster.sync();

    float sum = 0.0f;
    for (size_t c = first; c < columns; c += step) {
        sum += x[start + c];
    }
    sum = reduce_block(sum, sums, 0.0f, Sum());
    float* totals = cluster.map_shared_rank(total, 0);
    if (threadIdx.x == 0) {
        atomicAdd(&totals[0], sum);
    }
    cluster.sync();
    float mean = totals[0] / columns;

    float square = 0.0f;
    for (size_t c = first; c < columns; c += step) {
        square += (x[start + c] - mean) * (x[start + c] - mean);
    }
    square = reduce_block(square, squares, 0.0f, Sum());
    if (threadIdx.x == 0) {
        atomicAdd(&totals[1], square);
    }
    cluster.sync();
    float root = sqrtf(totals[1] / columns + 1e-5f);

    for (size_t c = first; c < columns; c += step) {
        out[start + c] = (x[start + c] - mean) / root * gamma[c] + beta[c];
    }
    cluster.sync();
}

// Short rows: one block reads its row three times.
extern "C" __global__ void layernorm_wide_rows_short(const float* x, const float* gamma, const float* beta, float* out, size_t rows, size_t columns) {
    __shared__ float sums[32], squares[32];
    const float* row = x + blockIdx.x * columns;
    float sum = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        sum += row[c];
    }
    float mean = reduce_block(sum, sums, 0.0f, Sum()) / columns;
    float square = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        square += (row[c] - mean) * (row[c] - mean);
    }
    float root = sqrtf(reduce_block(square, squares, 0.0f, Sum()) / columns + 1e-5f);
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        out[blockIdx.x * columns + c] = (row[c] - mean) / root * gamma[c] + beta[c];
    }
}
