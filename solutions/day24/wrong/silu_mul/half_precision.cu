// wrong: values: silu in bf16 arithmetic: 8 bits of precision at every step.
#include <cuda_bf16.h>

extern "C" __global__ void silu_mul(const __nv_bfloat16* gate, const __nv_bfloat16* up, __nv_bfloat16* out, size_t n) {
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t threads = (size_t)gridDim.x * blockDim.x;
    for (size_t i = thread; i < n; i += threads) {
        __nv_bfloat16 one = __float2bfloat16_rn(1.0f);
        __nv_bfloat16 silu = __hdiv(gate[i], __hadd(one, hexp(__hneg(gate[i]))));
        out[i] = __hmul(silu, up[i]);
    }
}
