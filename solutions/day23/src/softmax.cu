// softmax: out = exp(x - largest) / sum, for every row of x, all f32: `largest` is the largest element of the row, and
// `sum` adds up these exponentials over the row. Subtracting the largest element changes nothing in exact
// arithmetic, and keeps the exponentials from overflowing.
//
// x and out are `rows` x `columns`, row after row.
//
// Unfused, this is four launches:                              bytes an element
//     row_max             largest = max of the row                     4
//     exp_of_difference   exponentials = exp(x - largest)              8
//     row_sum             sum = sum of the row of exponentials         4
//     divide_rows         out = exponentials / sum                     8
// 24 bytes an element. One kernel can do it with 8: read x, write out.
//
// Grade it with: cargo xtask grade softmax

#include "reduce.cuh"
#include "row.cuh"

// ANCHOR: kernel
// 16-byte packs that a thread holds of its row: THREADS threads hold rows of up to THREADS * VECTORS * 4 elements.
const int VECTORS = 4;

template <int THREADS>
__device__ void softmax(const float* __restrict__ x, float* __restrict__ out, size_t rows, size_t columns) {
    using Held = Row<float, THREADS, VECTORS>;
    __shared__ float maxima[WARPS<THREADS>], sums[WARPS<THREADS>];

    const size_t number = row_number<THREADS>();
    if (number >= rows) return;
    x += number * columns;
    out += number * columns;

    const float lowest = __int_as_float(0xff800000);  // minus infinity
    if (columns <= Held::CAPACITY && columns % 4 == 0 && aligned16(x, out)) {
        Held row;
        row.load(x, columns);
        const float top = reduce_row<THREADS>(row.fold(lowest, Max()), maxima, Max());
        row.apply([=](float v) { return __expf(v - top); });
        const float sum = reduce_row<THREADS>(row.fold(0.0f, Sum()), sums, Sum());
        const float factor = 1.0f / sum;
        row.apply([=](float v) { return v * factor; });
        row.write(out);
        return;
    }

    // Rows that are too long to hold, or not aligned: element by element, and read three times.
    float top = lowest;
    for (size_t c = threadIdx.x % THREADS; c < columns; c += THREADS) top = fmaxf(top, x[c]);
    top = reduce_row<THREADS>(top, maxima, Max());
    float sum = 0.0f;
    for (size_t c = threadIdx.x % THREADS; c < columns; c += THREADS) sum += __expf(x[c] - top);
    sum = reduce_row<THREADS>(sum, sums, Sum());
    const float factor = 1.0f / sum;
    for (size_t c = threadIdx.x % THREADS; c < columns; c += THREADS) out[c] = __expf(x[c] - top) * factor;
}

// One kernel for each number of threads that may share a row. A block is one row, or four where a warp has a row each.
#define KERNEL(THREADS)                                                                                                \
    extern "C" __global__ void __launch_bounds__(THREADS <= 32 ? 128 : THREADS)                                        \
        softmax_##THREADS(const float* __restrict__ x, float* __restrict__ out, size_t rows, size_t columns) {         \
        softmax<THREADS>(x, out, rows, columns);                                                                       \
    }
KERNEL(32)
KERNEL(64)
KERNEL(128)
KERNEL(256)
KERNEL(512)
KERNEL(1024)
// ANCHOR_END: kernel
