#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include "reduce.cuh"

__device__ float factor_of(const __nv_bfloat16* row, size_t columns) {
    __shared__ float sums[32];
    float sum = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) sum += __bfloat162float(row[c]) * __bfloat162float(row[c]);
    return rsqrtf(reduce_block(sum, sums, 0.0f, Sum()) / columns + 1e-6f);
}

extern "C" __global__ void scales(const __nv_bfloat16* x, const __nv_bfloat16* weight, float* scale, size_t rows, size_t columns) {
    __shared__ float tops[32];
    const __nv_bfloat16* row = x + blockIdx.x * columns;
    const float factor = factor_of(row, columns);
    float top = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        top = fmaxf(top, fabsf(__bfloat162float(row[c]) * factor * __bfloat162float(weight[c])));
    }
    top = reduce_block(top, tops, 0.0f, Max());
    if (threadIdx.x == 0) scale[blockIdx.x] = top / 448.0f;
}

extern "C" __global__ void quantize(const __nv_bfloat16* x, const __nv_bfloat16* weight, const float* scale, __nv_fp8_e4m3* q,
                                    size_t rows, size_t columns) {
    const __nv_bfloat16* row = x + blockIdx.x * columns;
    const float factor = factor_of(row, columns), s = scale[blockIdx.x];
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        const float y = __bfloat162float(row[c]) * factor * __bfloat162float(weight[c]);
        q[blockIdx.x * columns + c] = __nv_fp8_e4m3(s > 0.0f ? y / s : 0.0f);
    }
}
