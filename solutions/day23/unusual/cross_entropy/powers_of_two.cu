// Exponentials as powers of two, as the hardware has them: x and the largest element times log2(e), and the loss divided by it.
#include <float.h>

#include "reduce.cuh"

extern "C" __global__ void cross_entropy(const float* __restrict__ x, const int* __restrict__ labels, float* __restrict__ loss, size_t rows, size_t columns) {
    __shared__ float maxima[32], sums[32];
    const float log2e = 1.4426950408889634f;
    const int label = labels[blockIdx.x], length = columns, threads = blockDim.x;
    x += blockIdx.x * columns;
    float top = -FLT_MAX, sum = 0.0f;
#pragma unroll 4
    for (int c = threadIdx.x; c < length; c += threads) {
        const float value = x[c], larger = fmaxf(top, value), scaled = larger * log2e;
        sum = sum * exp2f((top - larger) * log2e) + exp2f(fmaf(value, log2e, -scaled));
        top = larger;
    }
    const float largest = reduce_block(top, maxima, -FLT_MAX, Max());
    sum = reduce_block(sum * exp2f((top - largest) * log2e), sums, 0.0f, Sum());
    if (threadIdx.x == 0) loss[blockIdx.x] = label == -100 ? 0.0f : log2f(sum) * 0.6931471805599453f + (largest - x[label]);
}
