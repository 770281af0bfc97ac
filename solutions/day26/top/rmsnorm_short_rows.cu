// rmsnorm_short_rows: out = x / sqrt(mean of the row's x^2 + 1e-6) * weight, all f16, computed in f32 and rounded once.
// x and out are `rows` rows of `columns` elements, row-major; weight has an element a column. The rows are short: 64 to
// 1024 elements are timed, and any length must be right.
//
// Unfused, this is four launches:                       bytes per element
//     square_f16          squares = x * x, f32                         6
//     mean_of_short_rows  means = the mean of each row, f32            4
//     scale_rows_f16      normed = x / sqrt(means + 1e-6)              4
//     mul_columns_f16     out = normed * weight                        4
// 18 bytes per element, and a few a row. One kernel can do it with 4: read x, write out.
//
// Grade it with: cargo xtask grade rmsnorm_short_rows

#include "reduce.cuh"
#include "row.cuh"

// ANCHOR: kernel
// THREADS lanes of a warp share a row of at most THREADS * VECTORS packs of 16 bytes. The launch sees to it that the row has
// no more, that it has only whole packs, and that they are aligned.
template <int THREADS, int VECTORS>
__device__ void rmsnorm(const __half* __restrict__ x, const __half* __restrict__ weight, __half* __restrict__ out, size_t rows, size_t columns) {
    // Lanes that have no row stay with their warp, which reduces together; they hold a row without elements.
    const size_t number = row_number<THREADS>();
    const size_t here = number < rows ? columns : 0;
    x += number * columns;
    out += number * columns;

    // The weights as well, though they are wanted last: behind the reduction they would be waited for once more.
    Row<__half, THREADS, VECTORS> row, weights;
    row.load_constant(x, here);
    weights.load_constant(weight, here);
    const float square = row.fold(0.0f, [](float sum, float v) { return sum + v * v; });
    const float sum = reduce_lanes<THREADS>(square, Sum());
    const float factor = rsqrtf(__fdividef(sum, columns) + 1e-6f);
    row.combine([=](float v, float w) { return v * factor * w; }, weights);
    row.write(out);
}

// One kernel for each number of threads that may share a row, and of packs that each of them holds. A block has 128 threads
// and so 128 / THREADS rows.
#define KERNEL(THREADS, VECTORS)                                                                                       \
    extern "C" __global__ void __launch_bounds__(128) rmsnorm_##THREADS##_##VECTORS(                                   \
        const __half* __restrict__ x, const __half* __restrict__ weight, __half* __restrict__ out, size_t rows,        \
        size_t columns) {                                                                                              \
        rmsnorm<THREADS, VECTORS>(x, weight, out, rows, columns);                                                      \
    }
KERNEL(4, 2)
KERNEL(8, 2)
KERNEL(16, 2)
KERNEL(32, 2)
KERNEL(32, 4)
// ANCHOR_END: kernel

// Any row, by a block: element by element, and read twice.
extern "C" __global__ void __launch_bounds__(128)
    rmsnorm_any(const __half* __restrict__ x, const __half* __restrict__ weight, __half* __restrict__ out, size_t rows, size_t columns) {
    __shared__ float sums[32];
    const size_t number = blockIdx.x;
    x += number * columns;
    out += number * columns;

    float square = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) square += to_float(x[c]) * to_float(x[c]);
    const float sum = reduce_block(square, sums, 0.0f, Sum());
    const float factor = rsqrtf(__fdividef(sum, columns) + 1e-6f);
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        out[c] = from_float<__half>(to_float(x[c]) * factor * to_float(weight[c]));
    }
}
