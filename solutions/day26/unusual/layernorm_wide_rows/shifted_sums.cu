// One walk over a row in memory, with sums of the distances from its first element and of their squares.
#include "reduce.cuh"

extern "C" __global__ void layernorm_wide_rows(const float* __restrict__ x, const float* __restrict__ gamma,
                                               const float* __restrict__ beta, float* __restrict__ out, size_t rows,
                                               size_t columns) {
    __shared__ float sums[32], squares[32];
    x += blockIdx.x * columns;
    out += blockIdx.x * columns;
    // Near the mean, beside how far it may lie from zero: the squares do not cancel.
    const float near = x[0];
    float sum = 0.0f, square = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        const float distance = x[c] - near;
        sum += distance;
        square += distance * distance;
    }
    const float shift = reduce_block(sum, sums, 0.0f, Sum()) / columns;
    const float variance = reduce_block(square, squares, 0.0f, Sum()) / columns - shift * shift;
    const float mean = near + shift, factor = rsqrtf(fmaxf(variance, 0.0f) + 1e-5f);
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        out[c] = (x[c] - mean) * factor * gamma[c] + beta[c];
    }
}
