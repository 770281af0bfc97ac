// add_rmsnorm: residual += x, and its RMSNorm, all bf16. A block has a row, in shared memory.

#include <cuda_bf16.h>

#include "reduce.cuh"

extern "C" __global__ void add_rmsnorm(const __nv_bfloat16* x, const __nv_bfloat16* weight, __nv_bfloat16* residual,
                                       __nv_bfloat16* out, size_t rows, size_t columns) {
    extern __shared__ float row[];
    __shared__ float partial[32];
    x += blockIdx.x * columns;
    residual += blockIdx.x * columns;
    out += blockIdx.x * columns;

    float sum = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        __nv_bfloat16 added = __float2bfloat16_rn(__bfloat162float(residual[c]) + __bfloat162float(x[c]));
        residual[c] = added;
        row[c] = __bfloat162float(added);
        sum += row[c] * row[c];
    }
    sum = reduce_block(sum, partial, 0.0f, Sum());

    float factor = rsqrtf(sum / columns + 1e-6f);
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        out[c] = __float2bfloat16_rn(row[c] * factor * __bfloat162float(weight[c]));
    }
}
