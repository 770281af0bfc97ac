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

// ANCHOR: loop
// Adds a warp's share of the product of 16 rows and 32 columns: 64 terms from `first` on, then
// those a stride further on.
//
// Of each 32 terms a lane has the eight from lane % 4 * 8 on. It has the four columns from
// lane / 4 * 4 on. Its first four terms are its two pairs for a product of 16 terms, and the
// other four are those for the next product. This holds for a and for q.
template <bool PACKS>
__device__ void add_terms(float (&sums)[4][4], const bf16* a, const signed char* q, size_t top,
                          size_t left, size_t first, size_t stride, size_t m, size_t n,
                          size_t k) {
    const int lane = threadIdx.x % 32;
    const size_t row = top + lane / 4, column = left + lane / 4 * 4;
    // What is asked for while the step before is multiplied.
    Pack<bf16> upper[2], lower[2];
    unsigned weights[2][8];
    auto fetch = [&](size_t step) {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const size_t term = step + 32 * i + lane % 4 * 8;
            upper[i] = eight<PACKS>(a, row, term, m, k);
            lower[i] = eight<PACKS>(a, row + 8, term, m, k);
            eight_rows<PACKS>(weights[i], q, term, column, k, n);
        }
    };
    fetch(first);
    for (size_t step = first; step < k; step += stride) {
        uint4 u[2], l[2];
        unsigned w[2][8];
#pragma unroll
        for (int i = 0; i < 2; i++) {
            u[i] = upper[i].bits;
            l[i] = lower[i].bits;
#pragma unroll
            for (int j = 0; j < 8; j++) w[i][j] = weights[i][j];
        }
        fetch(step + stride);
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const unsigned early[4] = {u[i].x, l[i].x, u[i].y, l[i].y};
            const unsigned late[4] = {u[i].z, l[i].z, u[i].w, l[i].w};
#pragma unroll
            for (int j = 0; j < 4; j++)
                multiply(sums[j], early, pair(w[i][0], w[i][1], j), pair(w[i][2], w[i][3], j));
#pragma unroll
            for (int j = 0; j < 4; j++)
                multiply(sums[j], late, pair(w[i][4], w[i][5], j), pair(w[i][6], w[i][7], j));
        }
    }
}
// ANCHOR_END: loop

// ANCHOR: kernel
extern "C" __global__ void __launch_bounds__(512)
    gemm_dequant(const bf16* __restrict__ a, const signed char* __restrict__ q, const float* __restrict__ scale,
                 bf16* __restrict__ d, size_t m, size_t n, size_t k) {
    // Rows are longer by 16 bytes than what they hold, so that the lanes write to different banks.
    __shared__ __align__(16) float parts[WARPS][ROWS][COLUMNS + 4];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    // Up to four times 16 rows, and the warps of each share the terms.
    const int groups = m > 2 * ROWS ? 4 : m > ROWS ? 2 : 1, share = WARPS / groups;
    const size_t top = (size_t)blockIdx.x * ROWS * groups, left = (size_t)blockIdx.y * COLUMNS;
    const size_t own = top + warp % groups * ROWS, first = DEPTH * (warp / groups), stride = DEPTH * share;
    float sums[4][4] = {};
    const bool packs = k % 8 == 0 && (size_t)a % 16 == 0 && n % 4 == 0 && (size_t)q % 4 == 0;
    if (packs) {
        add_terms<true>(sums, a, q, own, left, first, stride, m, n, k);
    } else {
        add_terms<false>(sums, a, q, own, left, first, stride, m, n, k);
    }

    // Of each product a lane has two neighbouring columns, 4 columns of d apart: all in all, eight neighbouring ones.
#pragma unroll
    for (int i = 0; i < 4; i++) {
        float* at = &parts[warp][lane / 4 + i / 2 * 8][lane % 4 * 8 + i % 2 * 4];
        *(float4*)at = make_float4(sums[0][i], sums[1][i], sums[2][i], sums[3][i]);
    }
    __syncthreads();
    // A warp has a row of each 16.
    for (int group = 0; group < groups; group++) {
        const size_t row = top + group * ROWS + warp, column = left + lane;
        float sum = 0.0f;
        for (int i = 0; i < share; i++) sum += parts[i * groups + group][warp][lane];
        if (row < m && column < n) d[row * n + column] = __float2bfloat16(sum * scale[column]);
    }
}
// ANCHOR_END: kernel
