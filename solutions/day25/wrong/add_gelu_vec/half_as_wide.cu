// wrong: access: float2: 8 bytes an access.
#include "activation.cuh"

extern "C" __global__ void add_gelu_vec(const float* a, const float* b, float* out, size_t n) {
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t threads = (size_t)gridDim.x * blockDim.x;
    size_t vectors = n / 2;
    for (size_t v = thread; v < vectors; v += threads) {
        float2 p = ((const float2*)a)[v];
        float2 q = ((const float2*)b)[v];
        ((float2*)out)[v] = make_float2(gelu_tanh(p.x + q.x), gelu_tanh(p.y + q.y));
    }
    for (size_t i = 2 * vectors + thread; i < n; i += threads) {
        out[i] = gelu_tanh(a[i] + b[i]);
    }
}
