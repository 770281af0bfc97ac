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

// Four neighbouring weights in each of eight rows of q from a row and column on, the first of them in the lowest byte.
// `PACKS` says whether the four are one access, and whether q has all of the eight rows or none.
template <bool PACKS>
__device__ void eight_rows(unsigned (&found)[8], const signed char* q, size_t row, size_t column,
                           size_t rows, size_t columns) {
    const bool inside = row < rows && column < columns;
#pragma unroll
    for (int j = 0; j < 8; j++) {
        if (PACKS) {
            found[j] = inside ? *(const unsigned*)&q[(row + j) * columns + column] : 0;
        } else {
            found[j] = 0;
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const bool there = row + j < rows && column + i < columns;
                const unsigned char byte = there ? q[(row + j) * columns + column + i] : 0;
                found[j] |= (unsigned)byte << 8 * i;
            }
        }
    }
}

// The weights in one byte of two words, as two bf16: of two rows of q, in one column. bf16 has every
// number of int8. Behind the sign and exponent of 128 seven bits x are 128 + x. A negative number is
// 128 less than its seven bits, and its eighth bit, in the place of the exponent's last one, makes
// 256 of 128.
__device__ unsigned pair(unsigned upper, unsigned lower, int byte) {
    const unsigned bytes = __byte_perm(upper, lower, byte | (4 + byte) << 8);
    const unsigned value = (bytes & 0x007f007f) | 0x43004300;
    const unsigned offset = (bytes & 0x00800080) | 0x43004300;
    const __nv_bfloat162 both =
        __hsub2(*(const __nv_bfloat162*)&value, *(const __nv_bfloat162*)&offset);
    return *(const unsigned*)&both;
}

// TODO(kernel): a block has 32 columns of d, and 16 rows of it; 32 if m is more than 16, or 64 if it is more than
// 32. Its 16 warps share the terms of each 16 rows.
//   - With 16 rows, warp w adds 64 terms from 64 w on, and then those 1024 further on. With 64 rows, every fourth warp
//     has the same 16 rows, and only four warps share their terms. No warp needs what another warp has read.
//   - `multiply` of tensor.cuh wants from lane l four terms of column l / 4, in two pairs. You may choose the order of
//     the terms if it is the same for a and q, and you may choose the order of the columns. So let a lane read `eight`
//     elements of its two rows of a, from term l % 4 * 8 on, and `eight_rows` of q from the same term and from column
//     l / 4 * 4 on. Then it multiplies exactly what it has read, and nothing goes through shared memory.
//   - `pair` turns weights into bf16, without their scale. Multiply the sum by the scale of its column, at the end.
//   - Put the whole loop into a template with the parameter `PACKS`, and one `if` outside. A load in a branch inside the
//     loop must arrive before the next load starts.
//   - Start the loads of the next step before you multiply the present one.
//   - At the end the warps write their sums to shared memory. After a barrier, each thread adds the sums of one element
//     of d, always in the same order.
extern "C" __global__ void __launch_bounds__(512)
    gemm_dequant(const bf16* a, const signed char* q, const float* scale, bf16* d, size_t m, size_t n, size_t k) {
}
// END TODO
