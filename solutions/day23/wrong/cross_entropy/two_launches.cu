#include "reduce.cuh"

// The largest element of a row waits in the place of its loss.
extern "C" __global__ void largest_of_row(const float* x, float* loss, size_t columns) {
    __shared__ float maxima[WARPS<256>];
    x += blockIdx.x * columns;
    float top = x[0];
    for (size_t c = threadIdx.x; c < columns; c += 256) top = fmaxf(top, x[c]);
    top = reduce_row<256>(top, maxima, Max());
    if (threadIdx.x == 0) loss[blockIdx.x] = top;
}

extern "C" __global__ void loss_of_row(const float* x, const int* labels, float* loss, size_t columns) {
    __shared__ float sums[WARPS<256>];
    const int label = labels[blockIdx.x];
    x += blockIdx.x * columns;
    const float top = loss[blockIdx.x];
    float sum = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += 256) sum += expf(x[c] - top);
    sum = reduce_row<256>(sum, sums, Sum());
    if (threadIdx.x == 0) loss[blockIdx.x] = label == -100 ? 0.0f : logf(sum) + (top - x[label]);
}
