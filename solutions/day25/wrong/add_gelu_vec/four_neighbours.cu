#include "activation.cuh"

extern "C" __global__ void add_gelu_vec(const float* a, const float* b, float* out, size_t n) {
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (size_t i = 4 * thread; i < min(4 * thread + 4, n); i++) {
        out[i] = gelu_tanh(a[i] + b[i]);
    }
}
