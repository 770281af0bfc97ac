// The top rung of the ladder: the product of gemm_tile's last rung, and an epilogue that goes through shared memory. The lanes
// of a warp have two neighbouring sums of eight rows each; from shared memory each lane takes eight neighbouring sums of
// one row, so that all accesses have sixteen bytes.
#include <cuda_bf16.h>
#include "activation.cuh"
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

// For rows that begin at multiples of 16 bytes, and a bias that does.
extern "C" __global__ void __launch_bounds__(128, 3)
    gemm_bias_gelu_stages(const bf16* __restrict__ a, const bf16* __restrict__ b, const bf16* __restrict__ bias,
                          const bf16* __restrict__ residual, bf16* __restrict__ d, size_t m, size_t n, size_t k) {
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

    // ANCHOR: through
    // No copies are in flight any more, and all warps have left the last stage: the stages
    // have room for all sums of the block.
    wait_for_copies<0>();
    __syncthreads();
    float* all = (float*)stages;
    // Packs of eight sums lie in another order in each of four rows, so that the lanes of half
    // a warp write to different banks.
    auto pack_of_sums = [&](int r, int pack) { return &all[r * COLUMNS + (pack ^ r % 4) * 8]; };
#pragma unroll
    for (int i = 0; i < 8; i++) {
#pragma unroll
        for (int j = 0; j < 8; j++) {
            const float* two = &sums[i / 2][j][i % 2 * 2];
            float* at = pack_of_sums(row + 8 * i + lane / 4, column / 8 + j) + lane % 4 * 2;
            *(float2*)at = make_float2(two[0], two[1]);
        }
    }
    __syncthreads();
    // A thread has one pack of columns, in each eighth row.
    const int pack = threadIdx.x % 16;
    if (left + 8 * pack >= n) return;
    const Pack<bf16> of_columns = load_pack(bias + left + 8 * pack, 0);
#pragma unroll 4
    for (int r = threadIdx.x / 16; r < ROWS; r += 8) {
        if (top + r >= m) break;
        const size_t place = (top + r) * n + left + 8 * pack;
        const Pack<bf16> rest = load_pack(residual + place, 0);
        const float* of_row = pack_of_sums(r, pack);
        Pack<bf16> result;
#pragma unroll
        for (int pair = 0; pair < 4; pair++) {
            const float2 sum = *(const float2*)&of_row[2 * pair];
            const float2 shift = to_float2(of_columns, pair), add = to_float2(rest, pair);
            set_float2(result, pair, make_float2(gelu_fast(sum.x + shift.x) + add.x,
                                                 gelu_fast(sum.y + shift.y) + add.y));
        }
        store_pack(d + place, 0, result);
    }
    // ANCHOR_END: through
}
// ANCHOR_END: top

// Element by element, for rows that begin anywhere: 64 x 64 sums for a block, a warp's 16 x 32.
extern "C" __global__ void __launch_bounds__(256)
    gemm_bias_gelu_any(const bf16* __restrict__ a, const bf16* __restrict__ b, const bf16* __restrict__ bias,
                       const bf16* __restrict__ residual, bf16* __restrict__ d, size_t m, size_t n, size_t k) {
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
            if (r >= m || at >= n) continue;
            const float activated = gelu_fast(sums[j][i] + __bfloat162float(bias[at]));
            d[r * n + at] = __float2bfloat16(activated + __bfloat162float(residual[r * n + at]));
        }
    }
}
