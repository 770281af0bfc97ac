// wrong: access: the scalar fused kernel itself: 4 bytes an access.
#include "activation.cuh"

extern "C" __global__ void add_gelu_vec(const float* a, const float* b, float* out, size_t n) {
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t threads = (size_t)gridDim.x * blockDim.x;
    for (size_t i = thread; i < n; i += threads) {
        out[i] = gelu_tanh(a[i] + b[i]);
    }
}
