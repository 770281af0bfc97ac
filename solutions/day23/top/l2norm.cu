// l2norm: out = x / (length + 1e-12), for every row of x, all f32, where the length of a row is the square root of the
// sum of its squares. Adding 1e-12 makes a row of zeros come out as zeros.
//
// x and out are `rows` x `columns`, row after row.
//
// Unfused, this is three launches:                             bytes per element
//     square             squares = x * x                               8
//     row_sum            sum = sum of the row of squares               4
//     divide_by_length   out = x / (sqrt(sum) + 1e-12)                 8
// 20 bytes per element. One kernel can do it with 8: read x, write out.
//
// Grade it with: cargo xtask grade l2norm

#include "reduce.cuh"
#include "row.cuh"

// ANCHOR: kernel
// THREADS threads share a row of at most THREADS * VECTORS packs of 16 bytes. The launch sees to it that the row has no more,
// that it has only whole packs, and that they are aligned.
template <int THREADS, int VECTORS>
__device__ void l2norm(const float* __restrict__ x, float* __restrict__ out, size_t rows, size_t columns) {
    __shared__ float sums[WARPS<THREADS>];

    const size_t number = row_number<THREADS>();
    if (number >= rows) return;
    x += number * columns;
    out += number * columns;

    Row<float, THREADS, VECTORS> row;
    row.load_kept(x, columns);
    const float square = row.fold(0.0f, [](float sum, float v) { return sum + v * v; });
    const float sum = reduce_row<THREADS>(square, sums, Sum());
    const float factor = 1.0f / (sqrtf(sum) + 1e-12f);
    row.apply([=](float v) { return v * factor; });
    row.write(out);
}

// One kernel for each number of threads that may share a row, and of packs that each of them holds. A block is one row, or
// four where a warp has a row each.
#define KERNEL(THREADS, VECTORS)                                                                                       \
    extern "C" __global__ void __launch_bounds__(THREADS <= 32 ? 128 : THREADS) l2norm_##THREADS##_##VECTORS(          \
        const float* __restrict__ x, float* __restrict__ out, size_t rows, size_t columns) {                           \
        l2norm<THREADS, VECTORS>(x, out, rows, columns);                                                               \
    }
KERNEL(32, 4)
KERNEL(32, 8)
KERNEL(128, 4)
KERNEL(256, 4)
KERNEL(512, 4)
KERNEL(1024, 4)
// ANCHOR_END: kernel

// Any row, by a block: element by element, and read twice.
extern "C" __global__ void __launch_bounds__(256)
    l2norm_any(const float* __restrict__ x, float* __restrict__ out, size_t rows, size_t columns) {
    __shared__ float sums[32];
    const size_t number = blockIdx.x;
    x += number * columns;
    out += number * columns;

    float square = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) square += x[c] * x[c];
    const float sum = reduce_block(square, sums, 0.0f, Sum());
    const float factor = 1.0f / (sqrtf(sum) + 1e-12f);
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) out[c] = x[c] * factor;
}
