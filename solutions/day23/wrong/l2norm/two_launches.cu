#include "reduce.cuh"

extern "C" __global__ void lengths(const float* x, float* out, size_t columns) {
    __shared__ float sums[WARPS<256>];
    x += blockIdx.x * columns;
    float sum = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) sum += x[c] * x[c];
    sum = reduce_row<256>(sum, sums, Sum());
    if (threadIdx.x == 0) out[blockIdx.x * columns] = sqrtf(sum) + 1e-12f;
}

extern "C" __global__ void divide(const float* x, float* out, size_t columns) {
    x += blockIdx.x * columns;
    out += blockIdx.x * columns;
    const float length = out[0];
    __syncthreads();
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) out[c] = x[c] / length;
}
