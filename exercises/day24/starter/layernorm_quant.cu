// layernorm_quant: layernorm, then int8 with one scale a row, for `rows` rows of `columns` elements, f32 in:
//     y = (x - mean) / sqrt(variance + 1e-5) * gamma + beta       mean and variance of the row, divided by columns
//     scale = (largest |y| of the row) / 127                      f32, one a row
//     q = y / scale, rounded to nearest, ties to even             signed char; 0 in a row whose scale is 0
// gamma and beta have one element a column.
//
// Unfused, this is three launches:                     bytes per element
//     layernorm_affine   y = layernorm(x)                     8
//     row_scale          scale = largest |y| / 127            4
//     quantize_rows      q = round(y / scale)                 5
// 17 bytes per element. One kernel can do it with 5: read x, write q. Scales, gamma and beta are few.
//
// Grade it with: cargo xtask grade layernorm_quant

// TODO(kernel): one block per row. It must keep the row on chip: a kernel that reads it again for every step is hardly
// faster than the chain.
//   - `extern __shared__ float row[];` is as much shared memory as the launch asks for: room for the row. Each thread
//     loads every blockDim.x-th element into it.
//   - Three reductions: the sum, then the sum of squared distances from the mean, then the largest |y|. `#include
//     "reduce.cuh"` (kernels/include/reduce.cuh) has reduce_block(value, partial, none, Sum()) and the same with
//     Max(), which give the result to every thread. `partial` is a `__shared__ float[32]`, another one for each
//     reduction; `none` is what changes no result: 0 for all three. Every thread must call it.
//   - With loops over ints, `int c`, `int length = columns`, `int threads = blockDim.x`, the compiler knows how often
//     they turn, and `#pragma unroll 8` before the one that loads has eight loads under way at once.
//   - One thread writes the scale. A cast truncates; __float2int_rn rounds ties to even. 0 / 0 is no number.
// When it passes: four bytes per thread is a small access, and one byte a smaller one. See "row.cuh".
extern "C" __global__ void layernorm_quant(const float* x, const float* gamma, const float* beta, signed char* q,
                                           float* scale, size_t rows, size_t columns) {
}
// END TODO
