#include "activation.cuh"

extern "C" __global__ void add(const float* x, const float* residual, float* out, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i] + residual[i];
}

extern "C" __global__ void activate(float* out, int act, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float t = out[i];
    out[i] = act == 0 ? fmaxf(t, 0.0f) : act == 1 ? gelu_tanh(t) : t / (1.0f + expf(-t));
}
