// Pairs of bf16 in one register, and the last step in bf16 arithmetic of two elements at once where it is exact.
#include <cuda_bf16.h>

__device__ float silu_mul_one(float gate, float up) { return gate / (1.0f + expf(-gate)) * up; }

extern "C" __global__ void silu_mul(const __nv_bfloat16* gate, const __nv_bfloat16* up, __nv_bfloat16* out, size_t n) {
    const size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x, threads = (size_t)gridDim.x * blockDim.x;
    const __nv_bfloat162 zero = __float2bfloat162_rn(0.0f);
    for (size_t p = thread; p < n / 2; p += threads) {
        const float2 g = __bfloat1622float2(((const __nv_bfloat162*)gate)[p]), u = __bfloat1622float2(((const __nv_bfloat162*)up)[p]);
        ((__nv_bfloat162*)out)[p] = __hadd2(__floats2bfloat162_rn(silu_mul_one(g.x, u.x), silu_mul_one(g.y, u.y)), zero);
    }
    if (n % 2 == 1 && thread == 0) out[n - 1] = __float2bfloat16_rn(silu_mul_one(__bfloat162float(gate[n - 1]), __bfloat162float(up[n - 1])));
}
