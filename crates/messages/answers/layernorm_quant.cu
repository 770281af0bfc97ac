// layernorm_quant: a layernorm, and what int8 holds of it with a scale a row. A block has a row, in shared memory.

#include "reduce.cuh"

extern "C" __global__ void layernorm_quant(const float* x, const float* gamma, const float* beta, signed char* q,
                                           float* scale, size_t rows, size_t columns) {
    extern __shared__ float row[];
    __shared__ float sums[32], squares[32], maxima[32];
    x += blockIdx.x * columns;
    q += blockIdx.x * columns;

    float sum = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        row[c] = x[c];
        sum += row[c];
    }
    float mean = reduce_block(sum, sums, 0.0f, Sum()) / columns;

    float square = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) square += (row[c] - mean) * (row[c] - mean);
    float factor = rsqrtf(reduce_block(square, squares, 0.0f, Sum()) / columns + 1e-5f);

    float largest = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        row[c] = (row[c] - mean) * factor * gamma[c] + beta[c];
        largest = fmaxf(largest, fabsf(row[c]));
    }
    float step = reduce_block(largest, maxima, 0.0f, Max()) / 127.0f;
    if (threadIdx.x == 0) scale[blockIdx.x] = step;

    float divisor = step > 0.0f ? step : 1.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        q[c] = (signed char)rintf(row[c] / divisor);
    }
}
