// quantize_int8_vec: out[i] = clamp(round(x[i] / scale + zero_point), -128, 127), f32 in, i8 out, as on Day 22.
// A true division (scale > 0), and round to nearest with ties to even.
//
// Unfused, this is five launches:         bytes per element
//     div_scalar       quotient = x / scale             8
//     add_scalar       shifted = quotient + zero_point  8
//     round_half_even  rounded = round(shifted)         8
//     clamp            clamped = clamp(rounded)         8
//     cast_i8          out = (signed char)clamped       5
// 37 bytes per element. One kernel can do it with 5, and so does the scalar fused kernel: one element per thread, a load of
// 4 bytes, a store of 1 (kernels/rivals/scalar.cu). This one must be faster than that, with loads of 16 bytes and
// stores of at least 4.
//
// Grade it with: cargo xtask grade quantize_int8_vec

#include "divide.cuh"

// ANCHOR: one
__device__ __forceinline__ signed char quantize(float quotient, float zero_point) {
    const int q = __float2int_rn(quotient + zero_point);
    return (signed char)max(-128, min(127, q));
}
// ANCHOR_END: one

// ANCHOR: kernel
// A thread takes two float4s that lie a block's width apart, so that every access of a warp is one piece of memory. Both loads are
// under way before anything is computed, even the reciprocal of the scale.
const int VECTORS = 2;

extern "C" __global__ void quantize_int8_vec(const float* __restrict__ x, signed char* __restrict__ out, float scale, float zero_point, size_t n) {
    const bool aligned = (size_t)x % 16 == 0 && (size_t)out % 4 == 0;
    const size_t vectors = aligned ? n / 4 : 0;
    const size_t first = (size_t)blockIdx.x * blockDim.x * VECTORS + threadIdx.x;

    float4 in[VECTORS];
#pragma unroll
    for (int j = 0; j < VECTORS; j++) {
        const size_t v = first + j * blockDim.x;
        if (v < vectors) in[j] = ((const float4*)x)[v];
    }

    // Without a true division where scale and zero point allow it; elsewhere the last loop does everything.
    const Divisor divisor(scale);
    const size_t exact = divisor.exact_with(zero_point) ? vectors : 0;
#pragma unroll
    for (int j = 0; j < VECTORS; j++) {
        const size_t v = first + j * blockDim.x;
        if (v < exact) {
            ((char4*)out)[v] = make_char4(
                quantize(divisor.quotient(in[j].x), zero_point), quantize(divisor.quotient(in[j].y), zero_point),
                quantize(divisor.quotient(in[j].z), zero_point), quantize(divisor.quotient(in[j].w), zero_point));
        }
    }

    // The tail: at most three elements that fill no vector, or all of them where an address is not aligned.
    const size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    const size_t threads = (size_t)gridDim.x * blockDim.x;
    for (size_t i = 4 * exact + thread; i < n; i += threads) {
        out[i] = quantize(x[i] / scale, zero_point);
    }
}
// ANCHOR_END: kernel
