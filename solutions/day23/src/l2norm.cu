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

// ANCHOR: kernel
// A block has a row, and a thread every 256th element of it. The launch gives each block so many threads.
const int THREADS = 256;

extern "C" __global__ void l2norm(const float* __restrict__ x, float* __restrict__ out, size_t rows, size_t columns) {
    __shared__ float partial[WARPS<THREADS>];
    x += blockIdx.x * columns;
    out += blockIdx.x * columns;

    float sum = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += THREADS) sum += x[c] * x[c];
    sum = reduce_row<THREADS>(sum, partial, Sum());

    // One division a row, and a product for each element: a division takes about ten instructions. The row is read
    // again, which costs no byte from DRAM: the caches still have it.
    const float factor = 1.0f / (sqrtf(sum) + 1e-12f);
    for (size_t c = threadIdx.x; c < columns; c += THREADS) out[c] = x[c] * factor;
}
// ANCHOR_END: kernel
