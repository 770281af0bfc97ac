// An element per thread, in blocks of 64.
#include <cuda_bf16.h>

__device__ __nv_bfloat16 silu_mul_one(__nv_bfloat16 gate, __nv_bfloat16 up) {
    float t = __bfloat162float(gate);
    return __float2bfloat16(t / (1.0f + expf(-t)) * __bfloat162float(up));
}

extern "C" __global__ void silu_mul(const __nv_bfloat16* gate, const __nv_bfloat16* up, __nv_bfloat16* out, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = silu_mul_one(gate[i], up[i]);
    }
}
