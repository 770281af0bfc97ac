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

#include "pack.cuh"
#include "reduce.cuh"

// The loss of this block's row, of a maximum and a sum that each thread has. Each warp makes one of each of its own, the first warp
// one of all of them: one barrier, and the other warps are done when they have come to it.
__device__ __forceinline__ void finish(float top, float sum, float chosen, float* loss) {
    __shared__ float maxima[32], sums[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    float largest = reduce_lanes<32>(top, Max());
    sum = reduce_lanes<32>(sum * __expf(top - largest), Sum());
    if (lane == 0) {
        maxima[warp] = largest;
        sums[warp] = sum;
    }
    __syncthreads();
    if (warp > 0) return;
    top = lane < warps ? maxima[lane] : -FLT_MAX;
    sum = lane < warps ? sums[lane] : 0.0f;
    largest = reduce_lanes<32>(top, Max());
    sum = reduce_lanes<32>(sum * __expf(top - largest), Sum());
    if (lane == 0) loss[blockIdx.x] = __logf(sum) + (largest - chosen);
}

// ANCHOR: kernel
const int PACKS = 4;

// A thread loads four packs of 16 bytes, and then corrects its sum once for all sixteen elements. The launch
// sees to it that the row has only whole packs, and that they are aligned.
extern "C" __global__ void __launch_bounds__(1024, 2)
    cross_entropy_packs(const float* __restrict__ x, const int* __restrict__ labels, float* __restrict__ loss,
                        size_t rows, size_t columns) {
    const int label = labels[blockIdx.x];
    x += blockIdx.x * columns;
    const size_t packs = columns / 4;
    Pack<float> pack[PACKS];
    const auto load = [&](size_t first) {
#pragma unroll
        for (int j = 0; j < PACKS; j++) {
            const size_t index = first + j * blockDim.x;
            const unsigned none = 0xff800000;  // minus infinity, whose exponential is 0
            pack[j].bits = make_uint4(none, none, none, none);
            if (index < packs) pack[j].bits = ((const uint4*)x)[index];
        }
    };

    // The first packs are in flight before the label is there. Of a row that is ignored, they are read in vain.
    load(threadIdx.x);
    if (label == -100) {
        if (threadIdx.x == 0) loss[blockIdx.x] = 0.0f;
        return;
    }
    const float chosen = x[label];

    float top = -FLT_MAX, sum = 0.0f;
    for (size_t next = threadIdx.x + PACKS * blockDim.x;; next += PACKS * blockDim.x) {
        float larger = top;
#pragma unroll
        for (int j = 0; j < PACKS; j++) larger = fold(larger, pack[j], Max());
        sum *= __expf(top - larger);
        top = larger;
#pragma unroll
        for (int j = 0; j < PACKS; j++) {
            sum = fold(sum, pack[j], [=](float sum, float v) { return sum + __expf(v - larger); });
        }
        if (next >= packs) break;
        load(next);
    }
    finish(top, sum, chosen, loss);
}
// ANCHOR_END: kernel

// Any row, element by element.
extern "C" __global__ void __launch_bounds__(1024)
    cross_entropy_any(const float* __restrict__ x, const int* __restrict__ labels, float* __restrict__ loss, size_t rows, size_t columns) {
    const int column = labels[blockIdx.x];
    if (column == -100) {
        if (threadIdx.x == 0) loss[blockIdx.x] = 0.0f;
        return;
    }
    x += blockIdx.x * columns;
    const float chosen = x[column];

    float top = -FLT_MAX, sum = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        const float value = x[c], factor = __expf(-fabsf(value - top));
        sum = value > top ? sum * factor + 1.0f : sum + factor;
        top = fmaxf(top, value);
    }
    finish(top, sum, chosen, loss);
}
