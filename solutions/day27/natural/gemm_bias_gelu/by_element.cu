// Each sum by itself: two bytes per access, the bias read for every sum, and GELU with tanhf.
#include <cuda_bf16.h>
#include "activation.cuh"
#include "pack.cuh"
#include "tensor.cuh"

typedef __nv_bfloat16 bf16;

const int THREADS = 256;
const int TILE = 128; // Rows and columns of c that a block computes.
const int DEPTH = 32; // Columns of a and rows of b that it holds at a time.

// Rows in shared memory are 16 bytes longer than what they hold: the eight rows of a small matrix then lie in different banks.
const int PAD = 8;

// The eight elements of a matrix from a row and column on, with zeros for those that it does not have. `packs` says
// whether they are sixteen bytes that one access can read, in all rows.
__device__ Pack<bf16> eight(const bf16* from, size_t row, size_t column, size_t rows, size_t columns, bool packs) {
    Pack<bf16> found;
    if (packs) {
        const bool inside = row < rows && column < columns;
        found.bits = inside ? *(const uint4*)&from[row * columns + column] : make_uint4(0, 0, 0, 0);
    } else {
        for (int j = 0; j < 8; j++) {
            const bool inside = row < rows && column + j < columns;
            found.at[j] = inside ? from[row * columns + column + j] : bf16(0.0f);
        }
    }
    return found;
}

// At most 128 registers per thread, so that an SM holds two blocks: one multiplies while the other waits at a barrier.
extern "C" __global__ void __launch_bounds__(256, 2)
    gemm_bias_gelu(const bf16* __restrict__ a, const bf16* __restrict__ b, const bf16* __restrict__ bias,
                   const bf16* __restrict__ residual, bf16* __restrict__ d, size_t m, size_t n, size_t k) {
    __shared__ __align__(16) bf16 tile_a[TILE][DEPTH + PAD];
    __shared__ __align__(16) bf16 tile_b[DEPTH][TILE + PAD];
    const size_t top = (size_t)blockIdx.x * TILE, left = (size_t)blockIdx.y * TILE;
    const bool packs_a = k % 8 == 0 && (size_t)a % 16 == 0;
    const bool packs_b = n % 8 == 0 && (size_t)b % 16 == 0;

    // Two warps above each other have 64 rows each, and four beside each other 32 columns each.
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int row = warp / 4 * 64, column = warp % 4 * 32;
    float sums[4][4][4] = {};
    // The next tiles are on their way, in registers, while the tensor cores work on those in shared memory.
    Pack<bf16> next_a[2], next_b[2];
    auto fetch = [&](size_t step) {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const int at = threadIdx.x + i * THREADS;
            next_a[i] = eight(a, top + at / 4, step + at % 4 * 8, m, k, packs_a);
            next_b[i] = eight(b, step + at / 16, left + at % 16 * 8, k, n, packs_b);
        }
    };
    fetch(0);
    for (size_t step = 0; step < k; step += DEPTH) {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const int at = threadIdx.x + i * THREADS;
            store_pack(&tile_a[at / 4][at % 4 * 8], 0, next_a[i]);
            store_pack(&tile_b[at / 16][at % 16 * 8], 0, next_b[i]);
        }
        __syncthreads();
        fetch(step + DEPTH);
#pragma unroll
        for (int inner = 0; inner < DEPTH; inner += 16) {
            // Of a, the second eight lanes name the rows below the first eight, and the second sixteen the columns beside.
            unsigned of_a[4][4], of_b[2][4];
#pragma unroll
            for (int i = 0; i < 4; i++) load_matrices(of_a[i], &tile_a[row + 16 * i + lane % 16][inner + lane / 16 * 8]);
            // The same of b, whose matrices are turned over: each two of them are a fragment of 16 x 8.
#pragma unroll
            for (int j = 0; j < 2; j++) {
                load_matrices_transposed(of_b[j], &tile_b[inner + lane % 16][column + 16 * j + lane / 16 * 8]);
            }
#pragma unroll
            for (int i = 0; i < 4; i++) {
#pragma unroll
                for (int j = 0; j < 4; j++) multiply(sums[i][j], of_a[i], of_b[j / 2][j % 2 * 2], of_b[j / 2][j % 2 * 2 + 1]);
            }
        }
        // The next tiles take the place of these, which every warp must have read.
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < 4; i++) {
#pragma unroll
        for (int j = 0; j < 4; j++) {
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const size_t r = top + row + 16 * i + e / 2 * 8 + lane / 4, at = left + column + 8 * j + lane % 4 * 2 + e % 2;
                if (r >= m || at >= n) continue;
                const float t = sums[i][j][e] + __bfloat162float(bias[at]);
                d[r * n + at] = __float2bfloat16(gelu_tanh(t) + __bfloat162float(residual[r * n + at]));
            }
        }
    }
}
