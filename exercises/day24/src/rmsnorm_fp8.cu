// rmsnorm_fp8: RMSNorm, then e4m3 with one scale a row, for `rows` rows of `columns` elements, bf16 in:
//     y = x / sqrt(mean of x^2 + 1e-6) * weight         f32, not rounded to bf16; the mean is that of the row
//     scale = (largest |y| of the row) / 448            f32, one a row; 448 is the largest e4m3
//     q = y / scale, rounded to nearest, ties to even   e4m3; 0 in a row whose scale is 0
// weight has one element a column.
//
// Unfused, this is two launches:                                     bytes per element
//     rmsnorm_bf16        y = x / root of the row * weight, as bf16        4
//     quantize_fp8_rows   scale = largest |y| / 448, q = y / scale         3
// 7 bytes per element. One kernel can do it with 3: read x, write q. Scales and weights are few.
//
// <cuda_fp8.h> has the type __nv_fp8_e4m3, and __nv_fp8x2_e4m3 for two of them. GPUs from sm_89 on convert two floats to it in one
// instruction; for older ones the header computes the bits, which takes longer and gives the same.
//
// Grade it with: cargo xtask grade rmsnorm_fp8

#include <cuda_bf16.h>
#include <cuda_fp8.h>

// TODO(kernel): one block per row. It must keep the row on chip: a kernel that reads it again for every step is hardly
// faster than the chain.
//   - Two reductions: the sum of squares, then the largest |y|. `#include "reduce.cuh"` (kernels/include/reduce.cuh)
//     has reduce_block(value, partial, none, Sum()) and the same with Max(), which give the result to every thread.
//     `partial` is a `__shared__ float[32]`, another one for each reduction; `none` is what changes no result: 0 for
//     both. Every thread must call it.
//   - `extern __shared__` memory is as large as the launch asks for: room for the row, two bytes per element. Each thread
//     loads every blockDim.x-th pair of elements into it, as a `__nv_bfloat162`: with single elements a warp asks for only
//     64 bytes at a time. __bfloat1622float2 makes a float2 of a pair.
//   - With loops over ints, `int p`, `int threads = blockDim.x`, the compiler knows how often they turn, and
//     `#pragma unroll 8` before the one that loads has eight loads under way at once.
//   - y stays a float2: computed for the largest, and again for q.
//   - One thread writes the scale. `__nv_fp8x2_e4m3(float2)` rounds both floats once, ties to even. 0 / 0 is no number.
//   - A row with an odd number of columns has no whole pairs, and the next one begins in the middle of a pair: a second kernel,
//     `rmsnorm_fp8_long`, does such rows element by element, with `__nv_fp8_e4m3(float)`, and may read them again.
//     Begin with that one: it is right for every row, and not yet fast.
// When it passes: four bytes per thread is a small access. See "row.cuh".
extern "C" __global__ void rmsnorm_fp8(const __nv_bfloat16* x, const __nv_bfloat16* weight, __nv_fp8_e4m3* q, float* scale,
                                       size_t rows, size_t columns) {
}
// END TODO
