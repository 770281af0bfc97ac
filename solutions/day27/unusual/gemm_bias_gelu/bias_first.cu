// The sums begin with the bias instead of 0, as tensor cores add to whatever there is.
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

// The eight elements of a matrix from a row and column on, with zeros for those that it does not have.
// With PACKS they are sixteen bytes that one access can read, in all rows.
template <bool PACKS>
__device__ Pack<bf16> eight(const bf16* from, size_t row, size_t column, size_t rows, size_t columns) {
    Pack<bf16> found;
    if (PACKS) {
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

typedef bf16 TileA[TILE][DEPTH + PAD];
typedef bf16 TileB[DEPTH][TILE + PAD];
typedef float Sums[4][4][4]; // Of a lane: four from each of 4 x 4 fragments.

// Adds to the sums of a lane all products of the block's rows of a, from `top` on, and columns of b, from `left` on.
template <bool PACKS>
__device__ void add_products(Sums& sums, TileA& tile_a, TileB& tile_b, const bf16* a, const bf16* b, size_t top,
                             size_t left, size_t m, size_t n, size_t k) {
    // Two warps above each other have 64 rows each, and four beside each other 32 columns each.
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int row = warp / 4 * 64, column = warp % 4 * 32;
    // The next tiles are on their way, in registers, while the tensor cores work on those in shared memory.
    Pack<bf16> next_a[2], next_b[2];
    auto fetch = [&](size_t step) {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const int at = threadIdx.x + i * THREADS;
            next_a[i] = eight<PACKS>(a, top + at / 4, step + at % 4 * 8, m, k);
            next_b[i] = eight<PACKS>(b, step + at / 16, left + at % 16 * 8, k, n);
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
}

// At most 128 registers per thread, so that an SM holds two blocks: one multiplies while the other waits at a barrier.
extern "C" __global__ void __launch_bounds__(256, 2)
    gemm_bias_gelu(const bf16* __restrict__ a, const bf16* __restrict__ b, const bf16* __restrict__ bias,
                   const bf16* __restrict__ residual, bf16* __restrict__ d, size_t m, size_t n, size_t k) {
    __shared__ __align__(16) TileA tile_a;
    __shared__ __align__(16) TileB tile_b;
    const size_t top = (size_t)blockIdx.x * TILE, left = (size_t)blockIdx.y * TILE;
    const bool packs = k % 8 == 0 && n % 8 == 0 && ((size_t)a | (size_t)b) % 16 == 0;

    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int row = warp / 4 * 64, column = warp % 4 * 32;
    // The bias is the first term of each sum.
    Sums sums;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const size_t at = left + column + 8 * j + lane % 4 * 2;
        const float one = at < n ? __bfloat162float(bias[at]) : 0.0f, two = at + 1 < n ? __bfloat162float(bias[at + 1]) : 0.0f;
#pragma unroll
        for (int i = 0; i < 8; i++) {
            sums[i / 2][j][i % 2 * 2] = one;
            sums[i / 2][j][i % 2 * 2 + 1] = two;
        }
    }
    // The loop stands in the code twice, and the `if` outside of it. With one at each access, the assembler moves what was
    // loaded to other registers before the next access, and the move waits until it has come.
    if (packs) {
        add_products<true>(sums, tile_a, tile_b, a, b, top, left, m, n, k);
    } else {
        add_products<false>(sums, tile_a, tile_b, a, b, top, left, m, n, k);
    }

    const bool pairs = n % 2 == 0 && ((size_t)residual | (size_t)d) % 4 == 0;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const size_t at = left + column + 8 * j + lane % 4 * 2;
        // The residual of all eight rows is asked for before the first of them needs it.
        __nv_bfloat162 rest[4][2];
        if (pairs) {
#pragma unroll
            for (int i = 0; i < 8; i++) {
                const size_t r = top + row + 8 * i + lane / 4;
                if (r < m && at < n) rest[i / 2][i % 2] = *(const __nv_bfloat162*)&residual[r * n + at];
            }
        }
#pragma unroll
        for (int i = 0; i < 4; i++) {
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const size_t r = top + row + 16 * i + 8 * half + lane / 4;
                if (r >= m || at >= n) continue;
                const float one = gelu_fast(sums[i][j][2 * half]);
                const float two = gelu_fast(sums[i][j][2 * half + 1]);
                const size_t place = r * n + at;
                if (pairs) {
                    const float2 both = __bfloat1622float2(rest[i][half]);
                    *(__nv_bfloat162*)&d[place] = __floats2bfloat162_rn(one + both.x, two + both.y);
                } else {
                    d[place] = __float2bfloat16(one + __bfloat162float(residual[place]));
                    if (at + 1 < n) d[place + 1] = __float2bfloat16(two + __bfloat162float(residual[place + 1]));
                }
            }
        }
    }
}
