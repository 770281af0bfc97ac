// wrong: access: reads a 16 bytes at a time, and b 4.
#include "activation.cuh"

extern "C" __global__ void add_gelu_vec(const float* a, const float* b, float* out, size_t n) {
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t threads = (size_t)gridDim.x * blockDim.x;
    size_t vectors = n / 4;
    for (size_t v = thread; v < vectors; v += threads) {
        float4 p = ((const float4*)a)[v];
        float4 q = make_float4(b[4 * v], b[4 * v + 1], b[4 * v + 2], b[4 * v + 3]);
        ((float4*)out)[v] = make_float4(gelu_tanh(p.x + q.x), gelu_tanh(p.y + q.y), gelu_tanh(p.z + q.z), gelu_tanh(p.w + q.w));
    }
    for (size_t i = 4 * vectors + thread; i < n; i += threads) {
        out[i] = gelu_tanh(a[i] + b[i]);
    }
}
