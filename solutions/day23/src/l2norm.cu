// l2norm: out = x / (length + 1e-12), for every row of x, all f32, where the length of a row is the square root of the
// sum of its squares. Adding 1e-12 makes a row of zeros come out as zeros.
//
// x and out are `rows` x `columns`, row after row.
//
// Unfused, this is three launches:                             bytes an element
//     square             squares = x * x                               8
//     row_sum            sum = sum of the row of squares               4
//     divide_by_length   out = x / (sqrt(sum) + 1e-12)                 8
// 20 bytes an element. One kernel can do it with 8: read x, write out.
//
// Grade it with: cargo xtask grade l2norm

#include "reduce.cuh"
#include "row.cuh"

// ANCHOR: kernel
// 16-byte packs that a thread holds of its row: THREADS threads hold rows of up to THREADS * VECTORS * 4 elements.
const int VECTORS = 4;

template <int THREADS>
__device__ void l2norm(const float* __restrict__ x, float* __restrict__ out, size_t rows, size_t columns) {
    using Held = Row<float, THREADS, VECTORS>;
    __shared__ float sums[WARPS<THREADS>];

    const size_t number = row_number<THREADS>();
    if (number >= rows) return;
    x += number * columns;
    out += number * columns;

    const auto add_square = [](float sum, float v) { return sum + v * v; };
    if (columns <= Held::CAPACITY && columns % 4 == 0 && aligned16(x, out)) {
        Held row;
        row.load(x, columns);
        const float sum = reduce_row<THREADS>(row.fold(0.0f, add_square), sums, Sum());
        const float factor = 1.0f / (sqrtf(sum) + 1e-12f);
        row.apply([=](float v) { return v * factor; });
        row.write(out);
        return;
    }

    // Rows that are too long to hold, or not aligned: element by element, and read twice.
    float sum = 0.0f;
    for (size_t c = threadIdx.x % THREADS; c < columns; c += THREADS) sum = add_square(sum, x[c]);
    sum = reduce_row<THREADS>(sum, sums, Sum());
    const float factor = 1.0f / (sqrtf(sum) + 1e-12f);
    for (size_t c = threadIdx.x % THREADS; c < columns; c += THREADS) out[c] = x[c] * factor;
}

// One kernel for each number of threads that may share a row. A block is one row, or four where a warp has a row each.
#define KERNEL(THREADS)                                                                                                \
    extern "C" __global__ void __launch_bounds__(THREADS <= 32 ? 128 : THREADS)                                        \
        l2norm_##THREADS(const float* __restrict__ x, float* __restrict__ out, size_t rows, size_t columns) {          \
        l2norm<THREADS>(x, out, rows, columns);                                                                        \
    }
KERNEL(32)
KERNEL(64)
KERNEL(128)
KERNEL(256)
KERNEL(512)
KERNEL(1024)
// ANCHOR_END: kernel
