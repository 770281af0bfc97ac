// wrong: tail: two elements at a time: of an odd number the last one is never written.
#include <cuda_bf16.h>

__device__ float silu(float t) {
    return t / (1.0f + __expf(-t));
}

extern "C" __global__ void silu_mul(const __nv_bfloat16* gate, const __nv_bfloat16* up, __nv_bfloat16* out, size_t n) {
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t threads = (size_t)gridDim.x * blockDim.x;
    for (size_t i = thread; i < n / 2; i += threads) {
        float2 g = __bfloat1622float2(((const __nv_bfloat162*)gate)[i]);
        float2 u = __bfloat1622float2(((const __nv_bfloat162*)up)[i]);
        ((__nv_bfloat162*)out)[i] = __floats2bfloat162_rn(silu(g.x) * u.x, silu(g.y) * u.y);
    }
}
