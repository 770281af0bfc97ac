// The quantizer of Day 22 in several widths. From four vectors on, each thread has all of them in flight.
#include "divide.cuh"

__device__ __forceinline__ signed char quantize(float x, float scale, float zero_point) {
    return (signed char)max(-128, min(127, __float2int_rn(x / scale + zero_point)));
}

__device__ __forceinline__ char4 quantize(float4 x, float scale, float zero_point) {
    return make_char4(quantize(x.x, scale, zero_point), quantize(x.y, scale, zero_point), quantize(x.z, scale, zero_point),
                      quantize(x.w, scale, zero_point));
}

// ANCHOR: scalar
extern "C" __global__ void quantize_scalar(const float* x, signed char* out, float scale, float zero_point, size_t n) {
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = quantize(x[i], scale, zero_point);
}
// ANCHOR_END: scalar

// ANCHOR: vectors
template <int VECTORS>
__device__ __forceinline__ void quantize_vectors(const float* x, signed char* out, float scale, float zero_point, size_t n) {
    const size_t first = (size_t)blockIdx.x * blockDim.x * VECTORS + threadIdx.x;
    float4 loaded[VECTORS];
#pragma unroll
    for (int j = 0; j < VECTORS; j++) {
        const size_t v = first + j * blockDim.x;
        if (v < n / 4) loaded[j] = ((const float4*)x)[v];
    }
#pragma unroll
    for (int j = 0; j < VECTORS; j++) {
        const size_t v = first + j * blockDim.x;
        if (v < n / 4) ((char4*)out)[v] = quantize(loaded[j], scale, zero_point);
    }
    // The tail: at most three elements.
    const size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (thread < n % 4) {
        const size_t i = n / 4 * 4 + thread;
        out[i] = quantize(x[i], scale, zero_point);
    }
}
// ANCHOR_END: vectors

extern "C" __global__ void quantize_vec1(const float* x, signed char* out, float scale, float zero_point, size_t n) {
    quantize_vectors<1>(x, out, scale, zero_point, n);
}

extern "C" __global__ void quantize_vec4(const float* x, signed char* out, float scale, float zero_point, size_t n) {
    quantize_vectors<4>(x, out, scale, zero_point, n);
}

// ANCHOR: neighbours
// Sixteen neighbouring elements per thread: four loads that lie next to each other, and one store of 16 bytes.
extern "C" __global__ void quantize_neighbours(const float* x, signed char* out, float scale, float zero_point, size_t n) {
    const Divisor divisor(scale);
    const auto one = [=](float x) {
        return (signed char)max(-128, min(127, __float2int_rn(divisor.quotient(x) + zero_point)));
    };
    const size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (thread < n / 16) {
        float4 loaded[4];
#pragma unroll
        for (int j = 0; j < 4; j++) loaded[j] = ((const float4*)x)[4 * thread + j];
        union {
            int4 all;
            char4 part[4];
        } packed;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const float4 f = loaded[j];
            packed.part[j] = make_char4(one(f.x), one(f.y), one(f.z), one(f.w));
        }
        ((int4*)out)[thread] = packed.all;
    }
    if (thread < n % 16) out[n / 16 * 16 + thread] = one(x[n / 16 * 16 + thread]);
}
// ANCHOR_END: neighbours

// ANCHOR: exact
// With the division as a product and its correction: the same results, bit for bit, for a third of the instructions.
extern "C" __global__ void quantize_vec4_product(const float* x, signed char* out, float scale, float zero_point, size_t n) {
    const Divisor divisor(scale);
    const size_t first = (size_t)blockIdx.x * blockDim.x * 4 + threadIdx.x;
    float4 loaded[4];
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const size_t v = first + j * blockDim.x;
        if (v < n / 4) loaded[j] = ((const float4*)x)[v];
    }
    const auto one = [=](float x) {
        return (signed char)max(-128, min(127, __float2int_rn(divisor.quotient(x) + zero_point)));
    };
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const size_t v = first + j * blockDim.x;
        const float4 f = loaded[j];
        if (v < n / 4) ((char4*)out)[v] = make_char4(one(f.x), one(f.y), one(f.z), one(f.w));
    }
    const size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (thread < n % 4) out[n / 4 * 4 + thread] = one(x[n / 4 * 4 + thread]);
}
// ANCHOR_END: exact
