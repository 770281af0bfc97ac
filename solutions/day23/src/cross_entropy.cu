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

#include <float.h>

#include "reduce.cuh"

// ANCHOR: kernel
// A block has a row and reads it once. Each thread has the largest of its elements so far, and the sum of their exponentials
// relative to that. When a larger one comes, the sum is made smaller by as much as the largest has grown.
extern "C" __global__ void cross_entropy(const float* __restrict__ x, const int* __restrict__ labels, float* __restrict__ loss, size_t rows, size_t columns) {
    __shared__ float maxima[32], sums[32];
    const int label = labels[blockIdx.x];
    if (label == -100) {
        if (threadIdx.x == 0) loss[blockIdx.x] = 0.0f;
        return;  // all threads of the block do
    }
    x += blockIdx.x * columns;
    const float chosen = x[label];

    // No element is below the lowest number. A thread without elements keeps it, and a sum of 0.
    float top = -FLT_MAX, sum = 0.0f;
    const int length = columns, threads = blockDim.x;
#pragma unroll 8
    for (int c = threadIdx.x; c < length; c += threads) {
        // One of the two, the sum or the new exponential, is to be made smaller by this factor.
        const float value = x[c], factor = expf(-fabsf(value - top));
        sum = value > top ? sum * factor + 1.0f : sum + factor;
        top = fmaxf(top, value);
    }

    // The threads' sums are relative to different elements, until each is corrected once more.
    const float largest = reduce_block(top, maxima, -FLT_MAX, Max());
    sum = reduce_block(sum * expf(top - largest), sums, 0.0f, Sum());
    if (threadIdx.x == 0) loss[blockIdx.x] = logf(sum) + (largest - chosen);
}
// ANCHOR_END: kernel
