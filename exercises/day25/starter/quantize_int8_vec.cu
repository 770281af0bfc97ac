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

// TODO(kernel): four elements at once: a float4 in, a char4 out. Mind
//   - the last n % 4 elements, which fill neither;
//   - views that begin anywhere: a float4 needs an address that is a multiple of 16, a char4 one of 4;
//   - that the result must be exact: a true division, rintf or __float2int_rn, and a clamp before the narrowing.
extern "C" __global__ void quantize_int8_vec(const float* x, signed char* out, float scale, float zero_point, size_t n) {
}
// END TODO
