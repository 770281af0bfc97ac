// One operation, gelu(a + b), with more and more loads in flight in each thread.
#include "activation.cuh"

// ANCHOR: in_flight
// A thread takes K elements, each blockDim.x elements behind the last. So each load of a warp is four whole sectors.
// All 2 * K loads are issued before the first is used: 8 * K bytes of each thread are in flight at once.
template <int K>
__device__ __forceinline__ void add_gelu(const float* a, const float* b, float* out, size_t n) {
    const size_t first = (size_t)blockIdx.x * blockDim.x * K + threadIdx.x;
    float x[K], y[K];
#pragma unroll
    for (int j = 0; j < K; j++) {
        const size_t i = first + j * blockDim.x;
        if (i < n) {
            x[j] = a[i];
            y[j] = b[i];
        }
    }
#pragma unroll
    for (int j = 0; j < K; j++) {
        const size_t i = first + j * blockDim.x;
        if (i < n) out[i] = gelu_tanh(x[j] + y[j]);
    }
}
// ANCHOR_END: in_flight

// ANCHOR: bounds
// A block never has more than 256 threads. So each thread may get as many registers as a block of 256 threads allows.
extern "C" __global__ void __launch_bounds__(256) add_gelu_x1(const float* a, const float* b, float* out, size_t n) {
    add_gelu<1>(a, b, out, n);
}

// In addition, eight blocks must fit on an SM. If an SM holds 2,048 threads, a thread may have at most 32 registers.
extern "C" __global__ void __launch_bounds__(256, 8) add_gelu_x8_bounded(const float* a, const float* b, float* out, size_t n) {
    add_gelu<8>(a, b, out, n);
}
// ANCHOR_END: bounds

extern "C" __global__ void __launch_bounds__(256) add_gelu_x2(const float* a, const float* b, float* out, size_t n) {
    add_gelu<2>(a, b, out, n);
}

extern "C" __global__ void __launch_bounds__(256) add_gelu_x4(const float* a, const float* b, float* out, size_t n) {
    add_gelu<4>(a, b, out, n);
}

extern "C" __global__ void __launch_bounds__(256) add_gelu_x8(const float* a, const float* b, float* out, size_t n) {
    add_gelu<8>(a, b, out, n);
}
