#include "reduce.cuh"

// Mean and factor of each row wait in the first two elements of its result.
extern "C" __global__ void statistics(const float* x, float* out, size_t rows, size_t columns) {
    __shared__ float sums[32], squares[32];
    x += blockIdx.x * columns;
    out += blockIdx.x * columns;
    float sum = 0.0f, square = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) sum += x[c];
    const float mean = reduce_block(sum, sums, 0.0f, Sum()) / columns;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) square += (x[c] - mean) * (x[c] - mean);
    const float factor = rsqrtf(reduce_block(square, squares, 0.0f, Sum()) / columns + 1e-5f);
    if (threadIdx.x == 0) {
        // A row of one element has no spread: its result is beta, whatever the factor.
        out[0] = mean;
        if (columns > 1) out[1] = factor;
    }
}

extern "C" __global__ void layernorm_wide_rows(const float* x, const float* gamma, const float* beta, float* out, size_t rows, size_t columns) {
    x += blockIdx.x * columns;
    out += blockIdx.x * columns;
    const float mean = out[0], factor = columns > 1 ? out[1] : 0.0f;
    __syncthreads();
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) out[c] = (x[c] - mean) * factor * gamma[c] + beta[c];
}
