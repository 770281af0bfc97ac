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

#include "reduce.cuh"
#include "row.cuh"

#define LOWEST __int_as_float(0xff800000)  // minus infinity

// ANCHOR: kernel
// THREADS threads share a row of at most THREADS * VECTORS packs of 16 bytes. The launch sees to it that the row has no more,
// that it has only whole packs, and that they are aligned.
template <int THREADS, int VECTORS>
__device__ void softmax(const float* __restrict__ x, float* __restrict__ out, size_t rows, size_t columns) {
    __shared__ float maxima[WARPS<THREADS>], sums[WARPS<THREADS>];

    const size_t number = row_number<THREADS>();
    if (number >= rows) return;
    x += number * columns;
    out += number * columns;

    Row<float, THREADS, VECTORS> row;
    row.load_kept(x, columns);
    const float top = reduce_row<THREADS>(row.fold(LOWEST, Max()), maxima, Max());
    row.apply([=](float v) { return __expf(v - top); });
    const float sum = reduce_row<THREADS>(row.fold(0.0f, Sum()), sums, Sum());
    const float factor = 1.0f / sum;
    row.apply([=](float v) { return v * factor; });
    row.write(out);
}

// One kernel for each number of threads that may share a row, and of packs that each of them holds. A block is one row, or
// four where a warp has a row each.
#define KERNEL(THREADS, VECTORS)                                                                                       \
    extern "C" __global__ void __launch_bounds__(THREADS <= 32 ? 128 : THREADS) softmax_##THREADS##_##VECTORS(         \
        const float* __restrict__ x, float* __restrict__ out, size_t rows, size_t columns) {                           \
        softmax<THREADS, VECTORS>(x, out, rows, columns);                                                              \
    }
KERNEL(32, 4)
KERNEL(64, 4)
KERNEL(128, 4)
KERNEL(256, 4)
KERNEL(512, 4)
KERNEL(1024, 4)
// ANCHOR_END: kernel

// Any row, by a block: element by element, and read three times.
extern "C" __global__ void __launch_bounds__(256)
    softmax_any(const float* __restrict__ x, float* __restrict__ out, size_t rows, size_t columns) {
    __shared__ float maxima[32], sums[32];
    const size_t number = blockIdx.x;
    x += number * columns;
    out += number * columns;

    float top = LOWEST;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) top = fmaxf(top, x[c]);
    top = reduce_block(top, maxima, LOWEST, Max());
    float sum = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) sum += __expf(x[c] - top);
    sum = reduce_block(sum, sums, 0.0f, Sum());
    const float factor = 1.0f / sum;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) out[c] = __expf(x[c] - top) * factor;
}
