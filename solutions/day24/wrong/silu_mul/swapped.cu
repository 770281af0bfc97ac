// wrong: values: gate and up swapped: the silu of the wrong one.
#include <cuda_bf16.h>

extern "C" __global__ void silu_mul(const __nv_bfloat16* gate, const __nv_bfloat16* up, __nv_bfloat16* out, size_t n) {
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t threads = (size_t)gridDim.x * blockDim.x;
    for (size_t i = thread; i < n; i += threads) {
        float t = __bfloat162float(up[i]);
        out[i] = __float2bfloat16_rn(t / (1.0f + __expf(-t)) * __bfloat162float(gate[i]));
    }
}
