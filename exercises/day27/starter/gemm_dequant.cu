// gemm_dequant: d = a (q scale), where q is in int8 and each of its columns has a scale in f32. a and d are bf16, sums
// are f32, and a result is rounded once.
//
// a is `m` x `k`, q is `k` x `n`, d is `m` x `n`, all row after row, and scale has `n` elements:
// d[i, j] is the sum of a[i, l] * q[l, j] over l, times scale[j].
//
// It fuses two launches: one that writes the weights q scale in bf16, and the product. A weight is 1 byte in q and 2 in
// bf16, written and read again. At a few rows of a, as when a model answers with one token after another, the bytes of
// the weights are all that counts.
//
// Grade it with: cargo xtask grade gemm_dequant
#include <cuda_bf16.h>
#include "pack.cuh"
#include "tensor.cuh"

typedef __nv_bfloat16 bf16;

const int WARPS = 16; // That share the terms of each sum.
const int ROWS = 16, COLUMNS = 32; // Of d that a block computes.
const int DEPTH = 64; // Terms that a warp adds at a time.

// Eight neighbouring elements of a from a row and column on, with zeros for those that it does not have. `PACKS` says
// whether they are sixteen bytes that one access can read, in all rows.
template <bool PACKS>
__device__ Pack<bf16> eight(const bf16* a, size_t row, size_t column, size_t rows, size_t columns) {
    Pack<bf16> found;
    if (PACKS) {
        const bool inside = row < rows && column < columns;
        found.bits = inside ? *(const uint4*)&a[row * columns + column] : make_uint4(0, 0, 0, 0);
    } else {
#pragma unroll
        for (int j = 0; j < 8; j++) {
            const bool inside = row < rows && column + j < columns;
            found.at[j] = inside ? a[row * columns + column + j] : bf16(0.0f);
        }
    }
    return found;
}

// Four neighbouring weights of q in the same way, the first of them in the lowest byte.
template <bool PACKS>
__device__ unsigned four(const signed char* q, size_t row, size_t column, size_t rows, size_t columns) {
    if (PACKS) return row < rows && column < columns ? *(const unsigned*)&q[row * columns + column] : 0;
    unsigned found = 0;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const bool inside = row < rows && column + j < columns;
        found |= inside ? (unsigned)(unsigned char)q[row * columns + column + j] << 8 * j : 0;
    }
    return found;
}

// TODO(kernel): a block has 16 rows and 32 columns of d, and its 16 warps share the terms.
//   - Warp w adds the terms from 64 w on, 64 of them, and then those 1024 further on. Which rows of q its lanes read, it
//     need not share with the others: every warp has sums of its own, in registers.
//   - `multiply` of tensor.cuh wants from lane l two neighbouring terms of column l / 4, four times. The order of terms
//     is yours as long as a and q have the same one, and so is that of columns. So let a lane read `eight` elements of
//     its two rows of a, from term l % 4 * 8 on, and of the same eight rows of q `four` weights, from column l / 4 * 4 on:
//     what it has read is then what it multiplies, and nothing need go through shared memory.
//   - int8 to bf16 is exact. Multiply the numbers of q as they are, and the sum with the scale of its column at the end.
//   - A template with `PACKS` as its parameter for all of the loop, and one `if` outside: a load in a branch inside the
//     loop is waited for before the next one is asked for.
//   - All loads of a step before its first product.
//   - In the end the warps' sums go to shared memory, a barrier, and each of 512 threads adds sixteen of them, in the same
//     order always, for one element of d.
extern "C" __global__ void __launch_bounds__(512)
    gemm_dequant(const bf16* a, const signed char* q, const float* scale, bf16* d, size_t m, size_t n, size_t k) {
}
// END TODO
