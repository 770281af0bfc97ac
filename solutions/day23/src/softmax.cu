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

#include <math_constants.h>

#include "reduce.cuh"

// ANCHOR: kernel
// A block has a row and keeps it in shared memory, so that x is read once. A thread works on every blockDim.x-th
// element, in all loops on the same ones: what it reads in `row` it put there itself, and no barrier is needed for
// that.
extern "C" __global__ void softmax(const float* __restrict__ x, float* __restrict__ out, size_t rows, size_t columns) {
    extern __shared__ float row[];  // as many elements as the launch asks for: columns
    __shared__ float maxima[32], sums[32];
    // Of ints the compiler knows how often a loop will turn, and unrolls it: several loads are under way at once.
    // They are large enough: no block has room for a longer row.
    const int length = columns, threads = blockDim.x;
    x += blockIdx.x * columns;
    out += blockIdx.x * columns;

    // A thread without an element has minus infinity, which is larger than nothing.
    float top = -CUDART_INF_F;
#pragma unroll 8
    for (int c = threadIdx.x; c < length; c += threads) {
        row[c] = x[c];
        top = fmaxf(top, row[c]);
    }
    top = reduce_block(top, maxima, -CUDART_INF_F, Max());

    // The exponentials are needed twice, for their sum and for the result. They take the elements' place.
    float sum = 0.0f;
    for (int c = threadIdx.x; c < length; c += threads) {
        row[c] = expf(row[c] - top);
        sum += row[c];
    }
    sum = reduce_block(sum, sums, 0.0f, Sum());

    // One division a row, and a product for each element: a division takes about ten instructions.
    const float factor = 1.0f / sum;
    for (int c = threadIdx.x; c < length; c += threads) out[c] = row[c] * factor;
}
// ANCHOR_END: kernel

// For rows that are too long to keep, or that this GPU's blocks have no room for: the row is read again each time. A
// cache may still have it, but each walk waits for its loads.
extern "C" __global__ void softmax_long(const float* __restrict__ x, float* __restrict__ out, size_t rows, size_t columns) {
    __shared__ float maxima[32], sums[32];
    x += blockIdx.x * columns;
    out += blockIdx.x * columns;

    float largest = -CUDART_INF_F;
    for (size_t i = threadIdx.x; i < columns; i += blockDim.x) largest = fmaxf(largest, x[i]);
    largest = reduce_block(largest, maxima, -CUDART_INF_F, Max());

    float total = 0.0f;
    for (size_t i = threadIdx.x; i < columns; i += blockDim.x) total += expf(x[i] - largest);
    const float factor = 1.0f / reduce_block(total, sums, 0.0f, Sum());

    for (size_t i = threadIdx.x; i < columns; i += blockDim.x) out[i] = expf(x[i] - largest) * factor;
}
