#include "reduce.cuh"

extern "C" __global__ void exponentials(const float* x, float* out, size_t columns) {
    __shared__ float maxima[WARPS<256>];
    x += blockIdx.x * columns;
    out += blockIdx.x * columns;
    float top = __int_as_float(0xff800000);
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) top = fmaxf(top, x[c]);
    top = reduce_row<256>(top, maxima, Max());
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) out[c] = expf(x[c] - top);
}

extern "C" __global__ void divide(float* out, size_t columns) {
    __shared__ float sums[WARPS<256>];
    out += blockIdx.x * columns;
    float sum = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) sum += out[c];
    sum = reduce_row<256>(sum, sums, Sum());
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) out[c] /= sum;
}
