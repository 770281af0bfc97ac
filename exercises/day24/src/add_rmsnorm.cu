// add_rmsnorm, all bf16, `rows` rows of `columns` elements. The residual takes in x, and out is its RMSNorm:
//     residual = residual + x                                          rounded to bf16 and written back
//     out = residual / sqrt(mean of residual^2 + 1e-6) * weight        the mean is that of the row
// weight has one element a column. Sums and products are f32; what is stored is rounded once, to nearest even.
//
// Unfused, this is two launches:                                   bytes an element
//     add_bf16       residual = residual + x                              6
//     rmsnorm_bf16   out = residual / root of the row * weight            4
// 10 bytes an element. One kernel can do it with 8: read x and residual, write residual and out.
//
// Grade it with: cargo xtask grade add_rmsnorm

// TODO(kernel): one block a row. Keep the row on chip: one that is read again comes from a cache and moves no more bytes, but
// the block waits for it a second time.
//   - Each thread holds up to 16 elements in an array in registers; 1024 threads hold the longest rows, of 16384. Loop
//     over the array with constant bounds and `#pragma unroll`: element j of thread t is in column
//     t + j * blockDim.x, where that is below `columns`. __launch_bounds__(1024) makes sure that so many threads fit.
//   - Add in f32, round with __float2bfloat16_rn, write the residual; what is squared and normalized is the rounded value.
//   - `#include "reduce.cuh"` has reduce_block(value, partial, 0.0f, Sum()), which gives the sum of all threads' values
//     to each of them; `partial` is a `__shared__ float[32]`. Every thread of the block must call it.
// When it passes: two bytes a thread is a small access. What if a thread read eight elements at once? See "row.cuh".
#include <cuda_bf16.h>

extern "C" __global__ void __launch_bounds__(1024) add_rmsnorm(const __nv_bfloat16* x, const __nv_bfloat16* weight,
                                                               __nv_bfloat16* residual, __nv_bfloat16* out,
                                                               size_t rows, size_t columns) {
}
// END TODO
