// cross_entropy: loss = log(sum of exp(x)) - x[label], for every row of x, all f32: the sum is over the row, and `labels` has
// an int for each row, the column of the right answer. Where that is -100, the row is ignored, and its loss is 0.
//
// x is `rows` x `columns`, row after row; labels and loss have an element for each row. A vocabulary has up to 128,256 columns:
// 501 KiB a row, which no block has room for.
//
// Unfused, this is four launches:                              bytes per element
//     row_max_and_label   largest = max of the row, chosen = x[label]  4
//     exp_of_difference   exponentials = exp(x - largest)              8
//     row_sum             sum = sum of the row of exponentials         4
//     loss_of_sum         loss = log(sum) + largest - chosen           0
// 16 bytes per element. One kernel can do it with 4: read x, write one number per row.
//
// Grade it with: cargo xtask grade cross_entropy

// TODO(kernel): one block per row, and x is read once.
//   - `labels[blockIdx.x]` is the row's label. Where it is -100, one thread writes 0, and the whole block returns. Else its element
//     `x[label]` is needed at the end: load it early.
//   - Each thread walks over every blockDim.x-th element, with two numbers of its own: `top`, the largest of its elements so
//     far, and `sum`, the sum of their exponentials relative to it, exp(x - top). For each element, the new largest is
//     `larger = fmaxf(top, value)`; the sum so far becomes `sum * expf(top - larger)`, and `expf(value - larger)` is added.
//   - One of these two exponentials is always that of 0. A kernel with one per element is faster, but you pass with two.
//   - Begin with `top = -FLT_MAX`, the lowest float, of `#include <float.h>`, and with `sum = 0.0f`.
//   - Then the block's threads find the largest `top` together, and add up their sums, each corrected to that. `#include
//     "reduce.cuh"` (kernels/include/reduce.cuh) has reduce_block(value, partial, none, Max()) and the same with Sum(), which
//     give the result to every thread. `partial` is a `__shared__ float[32]`, another one for each reduction; `none` is what
//     changes no result: -FLT_MAX, and 0. Every thread must call it, also one that has no element.
//   - Thread 0 writes the row's loss, logf(sum) + (largest - chosen).
//   - With loops over ints, `int c`, `int length = columns`, `int threads = blockDim.x`, the compiler knows how often they turn,
//     and `#pragma unroll 8` has eight loads under way at once.
extern "C" __global__ void cross_entropy(const float* x, const int* labels, float* loss, size_t rows, size_t columns) {
}
// END TODO
