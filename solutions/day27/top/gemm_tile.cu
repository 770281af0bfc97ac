// The top rung of the ladder: four tiles of either factor in shared memory, of which three are being copied while one is multiplied.
// Each warp has 64 x 64 sums, for which it reads two thirds of the fragments per product that 64 x 32 take.
#include <cuda_bf16.h>
#include "async.cuh"
#include "pack.cuh"
#include "tensor.cuh"

typedef __nv_bfloat16 bf16;

// ANCHOR: top
// Tiles without padding, whose packs of eight elements are in another order in each row: those that one `ldmatrix` reads below
// each other are in different banks.
struct Tiles {
    static const int ROWS = 128, COLUMNS = 128, DEPTH = 32;
    bf16 a[ROWS * DEPTH];
    bf16 b[DEPTH * COLUMNS];

    // Two rows of a fill the banks, and one row of b fills them twice.
    __device__ bf16* pack_of_a(int row, int pack) { return &a[row * DEPTH + (pack ^ row / 2 % 4) * 8]; }
    __device__ bf16* pack_of_b(int row, int pack) { return &b[row * COLUMNS + (pack ^ row % 8) * 8]; }
};

const int STAGES = 4;

// For rows of a and of b that begin at multiples of 16 bytes.
extern "C" __global__ void __launch_bounds__(128, 3) gemm_tile_stages(const bf16* __restrict__ a, const bf16* __restrict__ b,
                                                                          bf16* __restrict__ c, size_t m, size_t n, size_t k) {
    extern __shared__ __align__(128) Tiles stages[];
    const int ROWS = Tiles::ROWS, COLUMNS = Tiles::COLUMNS, DEPTH = Tiles::DEPTH;
    const size_t top = (size_t)blockIdx.x * ROWS, left = (size_t)blockIdx.y * COLUMNS;
    const size_t steps = (k + DEPTH - 1) / DEPTH;
    // A thread's four packs of each tile: where the first is, and how far apart they are.
    const int row_a = threadIdx.x / 4, pack_a = threadIdx.x % 4, row_b = threadIdx.x / 16, pack_b = threadIdx.x % 16;
    const bf16* from_a = a + (top + row_a) * k + 8 * pack_a;
    const bf16* from_b = b + row_b * n + left + 8 * pack_b;
    const bool column_inside = left + 8 * pack_b < n;
    auto start = [&](size_t number) {
        Tiles& tiles = stages[number % STAGES];
        const size_t step = number * DEPTH;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const bool in_a = top + row_a + 32 * i < m && step + 8 * pack_a < k, in_b = step + row_b + 8 * i < k && column_inside;
            copy16_async(tiles.pack_of_a(row_a + 32 * i, pack_a), from_a + 32 * i * k + step, in_a);
            copy16_async(tiles.pack_of_b(row_b + 8 * i, pack_b), from_b + (step + 8 * i) * n, in_b);
        }
    };

    // Two warps above each other, and two beside: 64 x 64 sums each.
    const int lane = threadIdx.x % 32, row = threadIdx.x / 64 * 64, column = threadIdx.x / 32 % 2 * 64;
    float sums[4][8][4] = {};
    for (int number = 0; number < STAGES - 1; number++) {
        if (number < steps) start(number);
        commit_copies();
    }
    for (size_t number = 0; number < steps; number++) {
        // The oldest group is there for this thread, and after the barrier for all. All have left the stage that is copied to next.
        wait_for_copies<2>();
        __syncthreads();
        if (number + STAGES - 1 < steps) start(number + STAGES - 1);
        commit_copies();
        Tiles& tiles = stages[number % STAGES];
#pragma unroll
        for (int inner = 0; inner < DEPTH; inner += 16) {
            unsigned of_a[4][4], of_b[4][4];
#pragma unroll
            for (int i = 0; i < 4; i++) load_matrices(of_a[i], tiles.pack_of_a(row + 16 * i + lane % 16, inner / 8 + lane / 16));
#pragma unroll
            for (int j = 0; j < 4; j++) {
                load_matrices_transposed(of_b[j], tiles.pack_of_b(inner + lane % 16, column / 8 + 2 * j + lane / 16));
            }
#pragma unroll
            for (int i = 0; i < 4; i++) {
#pragma unroll
                for (int j = 0; j < 8; j++) multiply(sums[i][j], of_a[i], of_b[j / 2][j % 2 * 2], of_b[j / 2][j % 2 * 2 + 1]);
            }
        }
    }

    const bool pairs = (size_t)c % 4 == 0;
#pragma unroll
    for (int i = 0; i < 4; i++) {
#pragma unroll
        for (int j = 0; j < 8; j++) {
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const size_t r = top + row + 16 * i + 8 * half + lane / 4, at = left + column + 8 * j + lane % 4 * 2;
                if (r >= m || at >= n) continue;
                const float one = sums[i][j][2 * half], two = sums[i][j][2 * half + 1];
                if (pairs) {
                    *(__nv_bfloat162*)&c[r * n + at] = __floats2bfloat162_rn(one, two);
                } else {
                    c[r * n + at] = __float2bfloat16(one);
                    c[r * n + at + 1] = __float2bfloat16(two);
                }
            }
        }
    }
}
// ANCHOR_END: top

// Element by element, for rows that begin anywhere: 64 x 64 sums for a block, a warp's 16 x 32.
extern "C" __global__ void __launch_bounds__(256) gemm_tile_any(const bf16* __restrict__ a, const bf16* __restrict__ b,
                                                                bf16* __restrict__ c, size_t m, size_t n, size_t k) {
    const int THREADS = 256, TILE = 64, DEPTH = 32, PAD = 8;
    __shared__ __align__(16) bf16 tile_a[TILE][DEPTH + PAD];
    __shared__ __align__(16) bf16 tile_b[DEPTH][TILE + PAD];
    const size_t top = (size_t)blockIdx.x * TILE, left = (size_t)blockIdx.y * TILE;
    const int lane = threadIdx.x % 32, row = threadIdx.x / 64 * 16, column = threadIdx.x / 32 % 2 * 32;
    float sums[4][4] = {};
    for (size_t step = 0; step < k; step += DEPTH) {
#pragma unroll
        for (int at = threadIdx.x; at < TILE * DEPTH; at += THREADS) {
            const size_t of_a = step + at % DEPTH, of_b = left + at % TILE;
            const bool in_a = top + at / DEPTH < m && of_a < k, in_b = step + at / TILE < k && of_b < n;
            tile_a[at / DEPTH][at % DEPTH] = in_a ? a[(top + at / DEPTH) * k + of_a] : bf16(0.0f);
            tile_b[at / TILE][at % TILE] = in_b ? b[(step + at / TILE) * n + of_b] : bf16(0.0f);
        }
        __syncthreads();
#pragma unroll
        for (int inner = 0; inner < DEPTH; inner += 16) {
            unsigned of_a[4], of_b[2][4];
            load_matrices(of_a, &tile_a[row + lane % 16][inner + lane / 16 * 8]);
            load_matrices_transposed(of_b[0], &tile_b[inner + lane % 16][column + lane / 16 * 8]);
            load_matrices_transposed(of_b[1], &tile_b[inner + lane % 16][column + 16 + lane / 16 * 8]);
#pragma unroll
            for (int j = 0; j < 4; j++) multiply(sums[j], of_a, of_b[j / 2][j % 2 * 2], of_b[j / 2][j % 2 * 2 + 1]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int j = 0; j < 4; j++) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const size_t r = top + row + i / 2 * 8 + lane / 4, at = left + column + 8 * j + lane % 4 * 2 + i % 2;
            if (r < m && at < n) c[r * n + at] = __float2bfloat16(sums[j][i]);
        }
    }
}
