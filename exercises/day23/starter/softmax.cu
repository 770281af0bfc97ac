// softmax: out = exp(x - largest) / sum, for every row of x, all f32: `largest` is the largest element of the row, and
// `sum` adds up these exponentials over the row. Subtracting the largest element changes nothing in exact
// arithmetic, and keeps the exponentials from overflowing.
//
// x and out are `rows` x `columns`, row after row.
//
// Unfused, this is four launches:                              bytes per element
//     row_max             largest = max of the row                     4
//     exp_of_difference   exponentials = exp(x - largest)              8
//     row_sum             sum = sum of the row of exponentials         4
//     divide_rows         out = exponentials / sum                     8
// 24 bytes per element. One kernel can do it with 8: read x, write out.
//
// Grade it with: cargo xtask grade softmax

// TODO(kernel): one block per row, and the row on chip, so that x is read once.
//   - `extern __shared__ float row[];` is as much shared memory as the launch asks for: room for the row. Each thread
//     loads every blockDim.x-th element into it.
//   - The block's threads find the largest element together, then the sum of the exponentials. `#include
//     "reduce.cuh"` (kernels/include/reduce.cuh) has reduce_block(value, partial, none, Max()) and the same with
//     Sum(), which give the result to every thread. `partial` is a `__shared__ float[32]`, another one for each
//     reduction; `none` is what changes no result: -infinity, and 0. Every thread must call it.
//   - Each thread writes its share. What is past the end of the row must neither be read nor counted.
//   - With loops over ints, `int c`, `int length = columns`, `int threads = blockDim.x`, the compiler knows how often
//     they turn, and `#pragma unroll 8` before the one that loads has eight loads under way at once.
//   - -infinity is `-CUDART_INF_F` of `#include <math_constants.h>`, or `__int_as_float(0xff800000)`.
// When it passes: a row also has room in registers, and a thread can move 16 bytes at once. See "row.cuh".
extern "C" __global__ void softmax(const float* x, float* out, size_t rows, size_t columns) {
}
// END TODO
