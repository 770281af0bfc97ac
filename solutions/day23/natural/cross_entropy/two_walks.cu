// A block of 256 per row that walks over it twice: for the largest element, and for the sum.
#include "reduce.cuh"

extern "C" __global__ void cross_entropy(const float* x, const int* labels, float* loss, size_t rows, size_t columns) {
    __shared__ float maxima[WARPS<256>], sums[WARPS<256>];
    const float* row = x + blockIdx.x * columns;
    const int label = labels[blockIdx.x];

    float largest = row[0];
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        largest = fmaxf(largest, row[c]);
    }
    largest = reduce_row<256>(largest, maxima, Max());

    float sum = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        sum += expf(row[c] - largest);
    }
    sum = reduce_row<256>(sum, sums, Sum());

    if (threadIdx.x == 0) {
        if (label == -100) {
            loss[blockIdx.x] = 0.0f;
        } else {
            loss[blockIdx.x] = logf(sum) + largest - row[label];
        }
    }
}
