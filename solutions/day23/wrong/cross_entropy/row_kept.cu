#include <float.h>

#include "reduce.cuh"

extern "C" __global__ void cross_entropy(const float* __restrict__ x, const int* __restrict__ labels, float* __restrict__ loss, size_t rows, size_t columns) {
    extern __shared__ float row[];
    __shared__ float maxima[32], sums[32];
    const int label = labels[blockIdx.x], length = columns, threads = blockDim.x;
    x += blockIdx.x * columns;
    float top = -FLT_MAX, sum = 0.0f;
    for (int c = threadIdx.x; c < length; c += threads) {
        row[c] = x[c];
        top = fmaxf(top, row[c]);
    }
    top = reduce_block(top, maxima, -FLT_MAX, Max());
    for (int c = threadIdx.x; c < length; c += threads) sum += expf(row[c] - top);
    sum = reduce_block(sum, sums, 0.0f, Sum());
    if (threadIdx.x == 0) loss[blockIdx.x] = label == -100 ? 0.0f : logf(sum) + (top - row[label]);
}
