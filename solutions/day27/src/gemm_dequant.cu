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

// ANCHOR: pair
// The weights in one byte of two words, as bf16, which has every number of int8: of two rows, in one column.
__device__ unsigned pair(unsigned upper, unsigned lower, int byte) {
    const signed char first = upper >> 8 * byte, second = lower >> 8 * byte;
    const __nv_bfloat162 both = __floats2bfloat162_rn(first, second);
    return *(const unsigned*)&both;
}
// ANCHOR_END: pair

// ANCHOR: loop
// Adds what a warp has of the product of the block's rows and columns: of each 1024 terms 64.
//
// A lane has the terms from lane % 4 * 8 on of each 32, and the four columns from lane / 4 * 4 on. The tensor cores take
// its first four terms for two pairs of 16, and its other four for those of the next product: the same of a as of q.
template <bool PACKS>
__device__ void add_terms(float (&sums)[4][4], const bf16* a, const signed char* q, size_t top, size_t left, size_t m,
                          size_t n, size_t k) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const size_t row = top + lane / 4, column = left + lane / 4 * 4;
    for (size_t step = DEPTH * warp; step < k; step += DEPTH * WARPS) {
        Pack<bf16> upper[2], lower[2];
        unsigned weights[2][8];
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const size_t term = step + 32 * i + lane % 4 * 8;
            upper[i] = eight<PACKS>(a, row, term, m, k);
            lower[i] = eight<PACKS>(a, row + 8, term, m, k);
#pragma unroll
            for (int j = 0; j < 8; j++) weights[i][j] = four<PACKS>(q, term + j, column, k, n);
        }
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const uint4 u = upper[i].bits, l = lower[i].bits;
            const unsigned (&w)[8] = weights[i];
            const unsigned first[4] = {u.x, l.x, u.y, l.y}, second[4] = {u.z, l.z, u.w, l.w};
#pragma unroll
            for (int j = 0; j < 4; j++) multiply(sums[j], first, pair(w[0], w[1], j), pair(w[2], w[3], j));
#pragma unroll
            for (int j = 0; j < 4; j++) multiply(sums[j], second, pair(w[4], w[5], j), pair(w[6], w[7], j));
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
    const size_t top = (size_t)blockIdx.x * ROWS, left = (size_t)blockIdx.y * COLUMNS;
    float sums[4][4] = {};
    const bool packs = k % 8 == 0 && (size_t)a % 16 == 0 && n % 4 == 0 && (size_t)q % 4 == 0;
    if (packs) {
        add_terms<true>(sums, a, q, top, left, m, n, k);
    } else {
        add_terms<false>(sums, a, q, top, left, m, n, k);
    }

    // Of each product a lane has two neighbouring columns, 4 columns of d apart: all in all, eight neighbouring ones.
#pragma unroll
    for (int i = 0; i < 4; i++) {
        float* at = &parts[warp][lane / 4 + i / 2 * 8][lane % 4 * 8 + i % 2 * 4];
        *(float4*)at = make_float4(sums[0][i], sums[1][i], sums[2][i], sums[3][i]);
    }
    __syncthreads();
    // Each thread has one element of the block's.
    const size_t row = top + warp, column = left + lane;
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < WARPS; i++) sum += parts[i][warp][lane];
    if (row < m && column < n) d[row * n + column] = __float2bfloat16(sum * scale[column]);
}
// ANCHOR_END: kernel
