// Eight elements per thread in a struct that is aligned to 16 bytes, one after the other.
#include <cuda_bf16.h>

struct __align__(16) Eight {
    __nv_bfloat16 at[8];
};

__device__ __nv_bfloat16 gated(__nv_bfloat16 gate, __nv_bfloat16 up) {
    float g = __bfloat162float(gate);
    return __float2bfloat16(g / (1.0f + expf(-g)) * __bfloat162float(up));
}

extern "C" __global__ void silu_mul_vec(const __nv_bfloat16* gate, const __nv_bfloat16* up, __nv_bfloat16* out, size_t n) {
    size_t v = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n / 8) {
        Eight g = ((const Eight*)gate)[v], u = ((const Eight*)up)[v], r;
        for (int j = 0; j < 8; j++) {
            r.at[j] = gated(g.at[j], u.at[j]);
        }
        ((Eight*)out)[v] = r;
    }
    if (v == 0) {
        for (size_t i = n / 8 * 8; i < n; i++) {
            out[i] = gated(gate[i], up[i]);
        }
    }
}
