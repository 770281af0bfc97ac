#include <cuda_bf16.h>

#include "reduce.cuh"

extern "C" __global__ void add(const __nv_bfloat16* x, __nv_bfloat16* residual, size_t rows, size_t columns) {
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        const size_t i = blockIdx.x * columns + c;
        residual[i] = __float2bfloat16_rn(__bfloat162float(residual[i]) + __bfloat162float(x[i]));
    }
}

extern "C" __global__ void normalize(const __nv_bfloat16* weight, const __nv_bfloat16* residual, __nv_bfloat16* out,
                                     size_t rows, size_t columns) {
    __shared__ float partial[32];
    const size_t first = blockIdx.x * columns;
    float sum = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        const float r = __bfloat162float(residual[first + c]);
        sum += r * r;
    }
    sum = reduce_block(sum, partial, 0.0f, Sum());
    const float factor = rsqrtf(sum / columns + 1e-6f);
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        out[first + c] = __float2bfloat16_rn(__bfloat162float(residual[first + c]) * factor * __bfloat162float(weight[c]));
    }
}
