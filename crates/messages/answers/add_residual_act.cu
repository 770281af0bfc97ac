// add_residual_act: out[i] = act(x[i] + residual[i]). One kernel for each act: 0 relu, 1 gelu, 2 silu.

#include "activation.cuh"

extern "C" __global__ void add_residual_relu(const float* x, const float* residual, float* out, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = fmaxf(x[i] + residual[i], 0.0f);
}

extern "C" __global__ void add_residual_gelu(const float* x, const float* residual, float* out, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = gelu_tanh(x[i] + residual[i]);
}

extern "C" __global__ void add_residual_silu(const float* x, const float* residual, float* out, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = silu(x[i] + residual[i]);
}
