// cross_entropy: loss = log(sum of exp(x)) - x[label], for every row of x; 0 where the label is -100. A block has a row.

#include <float.h>

#include "reduce.cuh"

extern "C" __global__ void cross_entropy(const float* x, const int* labels, float* loss, size_t rows, size_t columns) {
    __shared__ float maxima[32], sums[32];
    const int label = labels[blockIdx.x];
    if (label == -100) {
        if (threadIdx.x == 0) loss[blockIdx.x] = 0.0f;
        return;
    }
    x += blockIdx.x * columns;
    const float chosen = x[label];

    const int length = columns, threads = blockDim.x;
    float top = -FLT_MAX, sum = 0.0f;
#pragma unroll 8
    for (int c = threadIdx.x; c < length; c += threads) {
        const float value = x[c];
        const float larger = fmaxf(top, value);
        sum = sum * expf(top - larger) + expf(value - larger);
        top = larger;
    }

    const float largest = reduce_block(top, maxima, -FLT_MAX, Max());
    sum = reduce_block(sum * expf(top - largest), sums, 0.0f, Sum());
    if (threadIdx.x == 0) {
        loss[blockIdx.x] = logf(sum) + largest - chosen;
    }
}
