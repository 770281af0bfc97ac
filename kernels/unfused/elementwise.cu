// The unfused chain: one kernel for each elementwise step, as a framework without fusion runs them.
//
// Every kernel has one thread an element and a guard for the last block. Arguments are the
// buffers read, the buffers written, the scalars, and the number of elements. Whatever a kernel
// computes goes out to global memory, and the next kernel reads it back: that traffic is what
// fusion saves, so these kernels are written plainly, but not badly: neighbouring threads touch
// neighbouring elements, and no element is read or written twice.
#include "activation.cuh"

__device__ __forceinline__ size_t element() {
    return (size_t)blockIdx.x * blockDim.x + threadIdx.x;
}

// ANCHOR: add
extern "C" __global__ void add(const float* a, const float* b, float* out, size_t n) {
    size_t i = element();
    if (i < n) out[i] = a[i] + b[i];
}
// ANCHOR_END: add

// ANCHOR: mul
extern "C" __global__ void mul(const float* a, const float* b, float* out, size_t n) {
    size_t i = element();
    if (i < n) out[i] = a[i] * b[i];
}
// ANCHOR_END: mul

// ANCHOR: relu
extern "C" __global__ void relu(const float* x, float* out, size_t n) {
    size_t i = element();
    if (i < n) out[i] = fmaxf(x[i], 0.0f);
}
// ANCHOR_END: relu

// ANCHOR: scale
extern "C" __global__ void scale(const float* x, float* out, float factor, size_t n) {
    size_t i = element();
    if (i < n) out[i] = x[i] * factor;
}
// ANCHOR_END: scale

// ANCHOR: exp
// Not `exp`: CUDA has a function of that name.
extern "C" __global__ void exponential(const float* x, float* out, size_t n) {
    size_t i = element();
    if (i < n) out[i] = expf(x[i]);
}
// ANCHOR_END: exp

// ANCHOR: gelu
extern "C" __global__ void gelu(const float* x, float* out, size_t n) {
    size_t i = element();
    if (i < n) out[i] = gelu_tanh(x[i]);
}
// ANCHOR_END: gelu

// ANCHOR: sigmoid
extern "C" __global__ void sigmoid(const float* x, float* out, size_t n) {
    size_t i = element();
    if (i < n) out[i] = 1.0f / (1.0f + expf(-x[i]));
}
// ANCHOR_END: sigmoid

// ANCHOR: quantize
extern "C" __global__ void div_scalar(const float* x, float* out, float divisor, size_t n) {
    size_t i = element();
    if (i < n) out[i] = x[i] / divisor;
}

extern "C" __global__ void add_scalar(const float* x, float* out, float value, size_t n) {
    size_t i = element();
    if (i < n) out[i] = x[i] + value;
}

extern "C" __global__ void round_half_even(const float* x, float* out, size_t n) {
    size_t i = element();
    if (i < n) out[i] = rintf(x[i]);
}

extern "C" __global__ void clamp(const float* x, float* out, float low, float high, size_t n) {
    size_t i = element();
    if (i < n) out[i] = fminf(fmaxf(x[i], low), high);
}

extern "C" __global__ void cast_i8(const float* x, signed char* out, size_t n) {
    size_t i = element();
    if (i < n) out[i] = (signed char)x[i];
}
// ANCHOR_END: quantize
