#include <cuda_bf16.h>

#include "reduce.cuh"

const int HELD = 16;

extern "C" __global__ void __launch_bounds__(1024) add_rmsnorm(const __nv_bfloat16* x, const __nv_bfloat16* weight,
                                                                  __nv_bfloat16* residual, __nv_bfloat16* out,
                                                                  size_t rows, size_t columns) {
    __shared__ float partial[32];
    const size_t first = blockIdx.x * columns;
    float held[HELD];
    float sum = 0.0f;
#pragma unroll
    for (int j = 0; j < HELD; j++) {
        const size_t c = threadIdx.x + j * blockDim.x;
        if (c < columns) {
            const __nv_bfloat16 r = __float2bfloat16_rn(__bfloat162float(residual[first + c]) + __bfloat162float(x[first + c]));
            residual[first + c] = r;
            held[j] = __bfloat162float(r);
            sum += held[j] * held[j];
        }
    }
    sum = reduce_block(sum, partial, 0.0f, Sum());
    const float factor = rsqrtf(sum / columns + 1e-6f);
#pragma unroll
    for (int j = 0; j < HELD; j++) {
        const size_t c = threadIdx.x + j * blockDim.x;
        if (c < columns) {
            out[first + c] = __float2bfloat16_rn(held[j] * factor);
        }
    }
}
