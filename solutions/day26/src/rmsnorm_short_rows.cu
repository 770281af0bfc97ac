// rmsnorm_short_rows: out = x / sqrt(mean of the row's x^2 + 1e-6) * weight, all f16, computed in f32 and rounded once.
// x and out are `rows` rows of `columns` elements, row-major; weight has an element a column. The rows are short: 64 to
// 1024 elements are timed, and any length must be right.
//
// Unfused, this is four launches:                       bytes an element
//     square_f16          squares = x * x, f32                         6
//     mean_of_short_rows  means = the mean of each row, f32            4
//     scale_rows_f16      normed = x / sqrt(means + 1e-6)              4
//     mul_columns_f16     out = normed * weight                        4
// 18 bytes an element, and a few a row. One kernel can do it with 4: read x, write out.
//
// Grade it with: cargo xtask grade rmsnorm_short_rows

#include "reduce.cuh"
#include "row.cuh"

// ANCHOR: kernel
// 16-byte packs that a thread holds of its row: THREADS threads hold rows of up to THREADS * VECTORS * 8 elements.
const int VECTORS = 2;

template <int THREADS>
__device__ void rmsnorm(const __half* __restrict__ x, const __half* __restrict__ weight, __half* __restrict__ out, size_t rows, size_t columns) {
    using Held = Row<__half, THREADS, VECTORS>;
    __shared__ float sums[WARPS<THREADS>];

    // Lanes that have no row stay with their warp, which reduces together; they hold a row without elements.
    const size_t number = row_number<THREADS>();
    const size_t here = number < rows ? columns : 0;
    x += number * columns;
    out += number * columns;

    const float inverse = 1.0f / columns;
    const auto add_square = [](float sum, float v) { return sum + v * v; };
    if (columns <= Held::CAPACITY && columns % 8 == 0 && aligned16(x, weight, out)) {
        Held row;
        row.load(x, here);
        const float sum = reduce_row<THREADS>(row.fold(0.0f, add_square), sums, Sum());
        const float factor = rsqrtf(sum * inverse + 1e-6f);
        row.apply([=](float v, float w) { return v * factor * w; }, weight);
        row.write(out);
        return;
    }

    // Rows that are too long to hold, or not aligned: element by element, and read twice.
    float sum = 0.0f;
    for (size_t c = threadIdx.x % THREADS; c < here; c += THREADS) sum = add_square(sum, to_float(x[c]));
    sum = reduce_row<THREADS>(sum, sums, Sum());
    const float factor = rsqrtf(sum * inverse + 1e-6f);
    for (size_t c = threadIdx.x % THREADS; c < here; c += THREADS) {
        out[c] = from_float<__half>(to_float(x[c]) * factor * to_float(weight[c]));
    }
}

// One kernel for each number of threads that may share a row. A block of up to a warp a row has 128 threads and so
// 128 / THREADS rows; beyond that it is one row.
#define KERNEL(THREADS)                                                                                                \
    extern "C" __global__ void __launch_bounds__(THREADS <= 32 ? 128 : THREADS)                                        \
        rmsnorm_##THREADS(const __half* __restrict__ x, const __half* __restrict__ weight, __half* __restrict__ out,   \
                          size_t rows, size_t columns) {                                                               \
        rmsnorm<THREADS>(x, weight, out, rows, columns);                                                               \
    }
KERNEL(4)
KERNEL(8)
KERNEL(16)
KERNEL(32)
KERNEL(64)
KERNEL(128)
// ANCHOR_END: kernel
