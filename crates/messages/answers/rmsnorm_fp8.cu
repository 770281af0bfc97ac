// rmsnorm_fp8: x / sqrt(mean of x^2 + 1e-6) * weight as e4m3, with one scale a row. A block has a row, and reads it three times.

#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include "reduce.cuh"

extern "C" __global__ void rmsnorm_fp8(const __nv_bfloat16* x, const __nv_bfloat16* weight, __nv_fp8_e4m3* q, float* scale, size_t rows, size_t columns) {
    __shared__ float sums[32], maxima[32];
    x += blockIdx.x * columns;
    q += blockIdx.x * columns;
    float sum = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        float value = __bfloat162float(x[c]);
        sum += value * value;
    }
    sum = reduce_block(sum, sums, 0.0f, Sum());
    float factor = rsqrtf(sum / columns + 1e-6f);

    float largest = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        largest = fmaxf(largest, fabsf(__bfloat162float(x[c]) * factor * __bfloat162float(weight[c])));
    }
    largest = reduce_block(largest, maxima, 0.0f, Max());
    float step = largest / 448.0f;
    if (threadIdx.x == 0) {
        scale[blockIdx.x] = step;
    }
    float divisor = step > 0.0f ? step : 1.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        q[c] = __nv_fp8_e4m3(__bfloat162float(x[c]) * factor * __bfloat162float(weight[c]) / divisor);
    }
}
