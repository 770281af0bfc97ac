// quantize_int8: out[i] = clamp(round(x[i] / scale + zero_point), -128, 127), f32 in, i8 out.
// A true division (scale > 0), and round to nearest with ties to even.
//
// Unfused, this is five launches:         bytes per element
//     div_scalar       quotient = x / scale             8
//     add_scalar       shifted = quotient + zero_point  8
//     round_half_even  rounded = round(shifted)         8
//     clamp            clamped = clamp(rounded)         8
//     cast_i8          out = (signed char)clamped       5
// 37 bytes per element. One kernel can do it with 5: read x, write out.
//
// Grade it with: cargo xtask grade quantize_int8

#include "divide.cuh"

// ANCHOR: one
__device__ signed char quantize(float quotient, float zero_point) {
    // One rounding for the division, one for the sum, one to the nearest integer: ties to even. The
    // conversion saturates at the ends of int, so the clamp sees large values too.
    const int q = __float2int_rn(quotient + zero_point);
    return (signed char)max(-128, min(127, q));
}
// ANCHOR_END: one

// ANCHOR: kernel
// A thread handles two float4s, which its block's threads read side by side. Both are loaded before
// anything else is computed: a quantizer writes little, so it takes more reads in flight to keep memory busy. (A scale that
// needs the true division has them loaded for nothing.)
const int VECTORS = 2;

extern "C" __global__ void quantize_int8(const float* __restrict__ x, signed char* __restrict__ out, float scale, float zero_point, size_t n) {
    // A 16-byte access needs an address that is a multiple of 16, a 4-byte one of 4.
    const bool aligned = (size_t)x % 16 == 0 && (size_t)out % 4 == 0;
    const size_t vectors = aligned ? n / 4 : 0;
    const size_t first = (size_t)blockIdx.x * blockDim.x * VECTORS + threadIdx.x;

    float4 loaded[VECTORS];
#pragma unroll
    for (int j = 0; j < VECTORS; j++) {
        const size_t v = first + j * blockDim.x;
        if (v < vectors) loaded[j] = ((const float4*)x)[v];
    }

    // The same quotient as x / scale, in a third of the instructions; but not for every scale.
    const Divisor divisor(scale);
    const size_t exact = divisor.exact_with(zero_point) ? vectors : 0;
#pragma unroll
    for (int j = 0; j < VECTORS; j++) {
        const size_t v = first + j * blockDim.x;
        if (v < exact) {
            ((char4*)out)[v] = make_char4(quantize(divisor.quotient(loaded[j].x), zero_point), quantize(divisor.quotient(loaded[j].y), zero_point),
                                          quantize(divisor.quotient(loaded[j].z), zero_point), quantize(divisor.quotient(loaded[j].w), zero_point));
        }
    }

    // Elements that fill no float4: at most three, or all of them where an address is not aligned or a
    // quotient needs the true division.
    const size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    const size_t threads = (size_t)gridDim.x * blockDim.x;
    for (size_t i = 4 * exact + thread; i < n; i += threads) {
        out[i] = quantize(x[i] / scale, zero_point);
    }
}
// ANCHOR_END: kernel
