// wrong: values: a relu that lets a hundredth of what is negative through.
#include "activation.cuh"

struct Relu {
    __device__ float operator()(float t) const { return t > 0.0f ? t : 0.01f * t; }
};
struct Gelu {
    __device__ float operator()(float t) const { return gelu_tanh(t); }
};
struct Silu {
    __device__ float operator()(float t) const { return t / (1.0f + __expf(-t)); }
};

template <typename Act>
__device__ void add_residual(const float* x, const float* residual, float* out, size_t n) {
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t threads = (size_t)gridDim.x * blockDim.x;
    for (size_t i = thread; i < n; i += threads) {
        out[i] = Act()(x[i] + residual[i]);
    }
}

extern "C" __global__ void add_residual_relu(const float* x, const float* residual, float* out, size_t n) {
    add_residual<Relu>(x, residual, out, n);
}
extern "C" __global__ void add_residual_gelu(const float* x, const float* residual, float* out, size_t n) {
    add_residual<Gelu>(x, residual, out, n);
}
extern "C" __global__ void add_residual_silu(const float* x, const float* residual, float* out, size_t n) {
    add_residual<Silu>(x, residual, out, n);
}
