// softmax: out = exp(x - largest) / sum, for every row of x. A block has a row, in shared memory.

#include <math_constants.h>

#include "reduce.cuh"

const int THREADS = 256;

extern "C" __global__ void softmax(const float* x, float* out, size_t rows, size_t columns) {
    extern __shared__ float row[];
    __shared__ float maxima[WARPS<THREADS>], sums[WARPS<THREADS>];
    x += blockIdx.x * columns;
    out += blockIdx.x * columns;

    float largest = -CUDART_INF_F;
    for (size_t c = threadIdx.x; c < columns; c += THREADS) {
        row[c] = x[c];
        largest = fmaxf(largest, row[c]);
    }
    largest = reduce_row<THREADS>(largest, maxima, Max());

    float sum = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += THREADS) {
        row[c] = expf(row[c] - largest);
        sum += row[c];
    }
    sum = reduce_row<THREADS>(sum, sums, Sum());

    for (size_t c = threadIdx.x; c < columns; c += THREADS) {
        out[c] = row[c] / sum;
    }
}
