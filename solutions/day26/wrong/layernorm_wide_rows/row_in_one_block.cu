#include "reduce.cuh"

extern "C" __global__ void layernorm_wide_rows(const float* __restrict__ x, const float* __restrict__ gamma,
                                               const float* __restrict__ beta, float* __restrict__ out, size_t rows,
                                               size_t columns) {
    extern __shared__ float row[];
    __shared__ float sums[32], squares[32];
    x += blockIdx.x * columns;
    out += blockIdx.x * columns;
    float sum = 0.0f, square = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        row[c] = x[c];
        sum += row[c];
    }
    const float mean = reduce_block(sum, sums, 0.0f, Sum()) / columns;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) square += (row[c] - mean) * (row[c] - mean);
    const float factor = rsqrtf(reduce_block(square, squares, 0.0f, Sum()) / columns + 1e-5f);
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) out[c] = (row[c] - mean) * factor * gamma[c] + beta[c];
}
