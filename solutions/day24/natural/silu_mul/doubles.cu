// exp of a double, and 1.0 is one.
#include <cuda_bf16.h>

extern "C" __global__ void silu_mul(const __nv_bfloat16* gate, const __nv_bfloat16* up, __nv_bfloat16* out, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float t = __bfloat162float(gate[i]);
        float activated = t / (1.0 + exp(-(double)t));
        out[i] = __float2bfloat16(activated * __bfloat162float(up[i]));
    }
}
