// wrong: fault E-MISALIGNED: handles the odd elements first, so that every float4 starts where the odd ones end.
#include "activation.cuh"

extern "C" __global__ void add_gelu_vec(const float* a, const float* b, float* out, size_t n) {
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t threads = (size_t)gridDim.x * blockDim.x;
    size_t vectors = n / 4;
    for (size_t v = thread; v < vectors; v += threads) {
        float4 p = ((const float4*)(a + n % 4))[v];
        float4 q = ((const float4*)(b + n % 4))[v];
        ((float4*)(out + n % 4))[v] = make_float4(gelu_tanh(p.x + q.x), gelu_tanh(p.y + q.y), gelu_tanh(p.z + q.z), gelu_tanh(p.w + q.w));
    }
    for (size_t i = thread; i < n % 4; i += threads) {
        out[i] = gelu_tanh(a[i] + b[i]);
    }
}
