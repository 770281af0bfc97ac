// silu_mul: silu(gate) * up, all bf16, one element per thread.

#include <cuda_bf16.h>

extern "C" __global__ void silu_mul(const __nv_bfloat16* gate, const __nv_bfloat16* up, __nv_bfloat16* out, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float t = __bfloat162float(gate[i]);
        out[i] = __float2bfloat16_rn(t / (1.0f + expf(-t)) * __bfloat162float(up[i]));
    }
}
