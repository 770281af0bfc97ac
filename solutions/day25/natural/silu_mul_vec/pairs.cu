// A pair per thread: 4 bytes, and the last element by the first thread.
#include <cuda_bf16.h>

__device__ float gated(float g, float u) {
    return g / (1.0f + expf(-g)) * u;
}

extern "C" __global__ void silu_mul_vec(const __nv_bfloat16* gate, const __nv_bfloat16* up, __nv_bfloat16* out, size_t n) {
    size_t p = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (p < n / 2) {
        float2 g = __bfloat1622float2(((const __nv_bfloat162*)gate)[p]);
        float2 u = __bfloat1622float2(((const __nv_bfloat162*)up)[p]);
        ((__nv_bfloat162*)out)[p] = __floats2bfloat162_rn(gated(g.x, u.x), gated(g.y, u.y));
    }
    if (p == 0 && n % 2 == 1) {
        out[n - 1] = __float2bfloat16(gated(__bfloat162float(gate[n - 1]), __bfloat162float(up[n - 1])));
    }
}
