// quantize_int8_vec: out[i] = clamp(round(x[i] / scale + zero_point), -128, 127), f32 in, i8 out, as on Day 22.
// A true division (scale > 0), and round to nearest with ties to even.
//
// Unfused, this is five launches:         bytes an element
//     div_scalar       quotient = x / scale             8
//     add_scalar       shifted = quotient + zero_point  8
//     round_half_even  rounded = round(shifted)         8
//     clamp            clamped = clamp(rounded)         8
//     cast_i8          out = (signed char)clamped       5
// 37 bytes an element. One kernel can do it with 5, and so does the scalar fused kernel: one element a thread, a load of
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
extern "C" __global__ void quantize_int8_vec(const float* __restrict__ x, signed char* __restrict__ out, float scale, float zero_point, size_t n) {
    const Divisor divisor(scale);
    // A thread takes sixteen neighbouring elements: four 16-byte reads, and one 16-byte write.
    const bool aligned = ((size_t)x | (size_t)out) % 16 == 0;
    const size_t vectors = aligned && divisor.exact_with(zero_point) ? n / 16 : 0;
    const size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    const size_t threads = (size_t)gridDim.x * blockDim.x;
    for (size_t v = thread; v < vectors; v += threads) {
        float4 in[4];
#pragma unroll
        for (int j = 0; j < 4; j++) in[j] = ((const float4*)x)[4 * v + j];
        union {
            int4 all;
            char4 part[4];
        } packed;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            packed.part[j] = make_char4(
                quantize(divisor.quotient(in[j].x), zero_point), quantize(divisor.quotient(in[j].y), zero_point),
                quantize(divisor.quotient(in[j].z), zero_point), quantize(divisor.quotient(in[j].w), zero_point));
        }
        ((int4*)out)[v] = packed.all;
    }

    // The tail: at most fifteen elements that fill no vector, or all of them where an address is not aligned.
    for (size_t i = 16 * vectors + thread; i < n; i += threads) {
        out[i] = quantize(x[i] / scale, zero_point);
    }
}
// ANCHOR_END: kernel
