// A product whose right factor is in int8, from naive to one that memory bounds:
// d = a (q scale), where a is m x k in bf16, q is k x n in int8, and each column of q has a
// scale. blockIdx.x counts the tiles of d's rows, blockIdx.y those of its columns.
//
//     gemm_dequant_naive    a thread has an element of d, and scales each weight
//     gemm_dequant_tiles    128 x 128 elements, whose weights become bf16 on their way to
//                           shared memory; the scale is applied to the sums
//     gemm_dequant_narrow   a warp has 16 x 32 elements, and needs no shared memory
//     gemm_dequant_split    sixteen warps share the terms of 16 x 32 elements
#include <cuda_bf16.h>
#include "pack.cuh"
#include "tensor.cuh"

typedef __nv_bfloat16 bf16;

// ANCHOR: naive
extern "C" __global__ void gemm_dequant_naive(const bf16* __restrict__ a,
                                              const signed char* __restrict__ q,
                                              const float* __restrict__ scale,
                                              bf16* __restrict__ d, size_t m, size_t n,
                                              size_t k) {
    const size_t row = blockIdx.x, column = (size_t)blockIdx.y * 256 + threadIdx.x;
    if (row >= m || column >= n) return;
    const float of_column = scale[column];
    float sum = 0.0f;
    for (size_t i = 0; i < k; i++)
        sum += __bfloat162float(a[row * k + i]) * ((float)q[i * n + column] * of_column);
    d[row * n + column] = __float2bfloat16(sum);
}
// ANCHOR_END: naive

// ANCHOR: tiles
// The product of `gemm_tile`: 128 x 128 sums of a block of 256 threads, and 64 x 32 of a warp.
// Rows of q begin at a multiple of 16 bytes, and so do those of a.
extern "C" __global__ void __launch_bounds__(256, 2)
    gemm_dequant_tiles(const bf16* __restrict__ a, const signed char* __restrict__ q,
                       const float* __restrict__ scale, bf16* __restrict__ d, size_t m,
                       size_t n, size_t k) {
    const int TILE = 128, DEPTH = 32, PAD = 8;
    __shared__ __align__(16) bf16 tile_a[TILE][DEPTH + PAD];
    __shared__ __align__(16) bf16 tile_b[DEPTH][TILE + PAD];
    const size_t top = (size_t)blockIdx.x * TILE, left = (size_t)blockIdx.y * TILE;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int row = warp / 4 * 64, column = warp % 4 * 32;
    // A thread brings 2 x 8 elements of a and 16 weights.
    const int row_a = threadIdx.x / 4, pack_a = threadIdx.x % 4 * 8;
    const int row_q = threadIdx.x / 8, pack_q = threadIdx.x % 8 * 16;
    float sums[4][4][4] = {};
    for (size_t step = 0; step < k; step += DEPTH) {
        Pack<bf16> of_a[2];
        Pack<signed char> of_q;
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const bool inside = top + row_a + 64 * i < m && step + pack_a < k;
            const bf16* from = &a[(top + row_a + 64 * i) * k + step + pack_a];
            of_a[i].bits = inside ? *(const uint4*)from : make_uint4(0, 0, 0, 0);
        }
        const bool inside = step + row_q < k && left + pack_q < n;
        of_q.bits = inside ? *(const uint4*)&q[(step + row_q) * n + left + pack_q]
                           : make_uint4(0, 0, 0, 0);
#pragma unroll
        for (int i = 0; i < 2; i++) store_pack(&tile_a[row_a + 64 * i][pack_a], 0, of_a[i]);
        // Every number of int8 is one of bf16.
#pragma unroll
        for (int half = 0; half < 2; half++) {
            Pack<bf16> weights;
#pragma unroll
            for (int i = 0; i < 8; i++)
                weights.at[i] = __float2bfloat16((float)of_q.at[8 * half + i]);
            store_pack(&tile_b[row_q][pack_q + 8 * half], 0, weights);
        }
        __syncthreads();
#pragma unroll
        for (int inner = 0; inner < DEPTH; inner += 16) {
            unsigned left_of[4][4], right_of[2][4];
#pragma unroll
            for (int i = 0; i < 4; i++)
                load_matrices(left_of[i],
                              &tile_a[row + 16 * i + lane % 16][inner + lane / 16 * 8]);
#pragma unroll
            for (int j = 0; j < 2; j++) {
                load_matrices_transposed(
                    right_of[j], &tile_b[inner + lane % 16][column + 16 * j + lane / 16 * 8]);
            }
#pragma unroll
            for (int i = 0; i < 4; i++) {
#pragma unroll
                for (int j = 0; j < 4; j++)
                    multiply(sums[i][j], left_of[i], right_of[j / 2][j % 2 * 2],
                             right_of[j / 2][j % 2 * 2 + 1]);
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int j = 0; j < 4; j++) {
        // n is even.
        const size_t at = left + column + 8 * j + lane % 4 * 2;
        const float2 scales = at < n ? *(const float2*)&scale[at] : make_float2(0.0f, 0.0f);
#pragma unroll
        for (int i = 0; i < 8; i++) {
            const size_t r = top + row + 8 * i + lane / 4;
            const float* two = &sums[i / 2][j][i % 2 * 2];
            if (r < m && at < n)
                *(__nv_bfloat162*)&d[r * n + at] =
                    __floats2bfloat162_rn(two[0] * scales.x, two[1] * scales.y);
        }
    }
}
// ANCHOR_END: tiles

// ANCHOR: step
// What a lane reads of 32 terms: eight elements of its two rows of a, and in eight rows of q
// four weights each. Rows begin at multiples of 16 and of 4 bytes.
struct Step {
    uint4 upper, lower;
    unsigned weights[8];

    __device__ __forceinline__ void load(const bf16* a, const signed char* q, size_t row,
                                         size_t term, size_t column, size_t m, size_t n,
                                         size_t k) {
        const uint4 zeros = make_uint4(0, 0, 0, 0);
        upper = row < m && term < k ? *(const uint4*)&a[row * k + term] : zeros;
        lower = row + 8 < m && term < k ? *(const uint4*)&a[(row + 8) * k + term] : zeros;
#pragma unroll
        for (int j = 0; j < 8; j++) {
            const bool inside = term + j < k && column < n;
            weights[j] = inside ? *(const unsigned*)&q[(term + j) * n + column] : 0;
        }
    }

    // The weights of column j of the lane's four, in rows i and i + 1 of its eight.
    __device__ __forceinline__ unsigned pair(int i, int j) const {
        const signed char first = weights[i] >> 8 * j, second = weights[i + 1] >> 8 * j;
        const __nv_bfloat162 both = __floats2bfloat162_rn(first, second);
        return *(const unsigned*)&both;
    }

    __device__ __forceinline__ void add(float (&sums)[4][4]) const {
        const unsigned first[4] = {upper.x, lower.x, upper.y, lower.y};
        const unsigned second[4] = {upper.z, lower.z, upper.w, lower.w};
#pragma unroll
        for (int j = 0; j < 4; j++) multiply(sums[j], first, pair(0, j), pair(2, j));
#pragma unroll
        for (int j = 0; j < 4; j++) multiply(sums[j], second, pair(4, j), pair(6, j));
    }
};
// ANCHOR_END: step

// ANCHOR: narrow
extern "C" __global__ void __launch_bounds__(32)
    gemm_dequant_narrow(const bf16* __restrict__ a, const signed char* __restrict__ q,
                        const float* __restrict__ scale, bf16* __restrict__ d, size_t m,
                        size_t n, size_t k) {
    const int lane = threadIdx.x;
    const size_t row = (size_t)blockIdx.x * 16 + lane / 4, left = (size_t)blockIdx.y * 32;
    float sums[4][4] = {};
    for (size_t step = 0; step < k; step += 32) {
        Step next;
        next.load(a, q, row, step + lane % 4 * 8, left + lane / 4 * 4, m, n, k);
        next.add(sums);
    }
    // Of each sums[j] the lane has two neighbouring columns, which are four apart in d.
#pragma unroll
    for (int i = 0; i < 16; i++) {
        const size_t r = row + i / 8 * 8, at = left + lane % 4 * 8 + i % 8;
        if (r < m && at < n)
            d[r * n + at] =
                __float2bfloat16(sums[i % 4][i / 8 * 2 + i / 4 % 2] * scale[at]);
    }
}
// ANCHOR_END: narrow

// ANCHOR: split
extern "C" __global__ void __launch_bounds__(512)
    gemm_dequant_split(const bf16* __restrict__ a, const signed char* __restrict__ q,
                       const float* __restrict__ scale, bf16* __restrict__ d, size_t m,
                       size_t n, size_t k) {
    const int WARPS = 16;
    __shared__ __align__(16) float parts[WARPS][16][36];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const size_t top = (size_t)blockIdx.x * 16, left = (size_t)blockIdx.y * 32;
    const size_t row = top + lane / 4, column = left + lane / 4 * 4;
    float sums[4][4] = {};
    // Warp 1 has the terms behind those of warp 0, and so on.
    for (size_t step = 32 * warp; step < k; step += 32 * WARPS) {
        Step next;
        next.load(a, q, row, step + lane % 4 * 8, column, m, n, k);
        next.add(sums);
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        float* at = &parts[warp][lane / 4 + i / 2 * 8][lane % 4 * 8 + i % 2 * 4];
        *(float4*)at = make_float4(sums[0][i], sums[1][i], sums[2][i], sums[3][i]);
    }
    __syncthreads();
    // Sixteen sums for each of 512 elements, in the same order always.
    const size_t r = top + warp, at = left + lane;
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < WARPS; i++) sum += parts[i][warp][lane];
    if (r < m && at < n) d[r * n + at] = __float2bfloat16(sum * scale[at]);
}
// ANCHOR_END: split
