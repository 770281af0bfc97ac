// A product of matrices with its epilogue, d = gelu(a b + bias) + residual in bf16 with sums in
// f32: the product stays the same, and its end gets cheaper, step by step. blockIdx.x counts
// the tiles of d's rows, blockIdx.y those of its columns.
//
//     gemm_bias_gelu_elements   each sum by itself: two bytes per access, GELU with tanhf
//     gemm_bias_gelu_pairs      two neighbouring sums: four bytes per access, a bias read once
//     gemm_bias_gelu_fast       the same with GELU from one exponential
//     gemm_bias_gelu_pipeline   the same after a product whose tiles are copied asynchronously
//     gemm_bias_gelu_packs      eight neighbouring sums, which come together through shared memory,
//                               after a product of swizzled tiles
//
// All of them ask for rows that begin at multiples of 16 bytes.
#include <cuda_bf16.h>
#include "activation.cuh"
#include "async.cuh"
#include "pack.cuh"
#include "tensor.cuh"

typedef __nv_bfloat16 bf16;

const int THREADS = 256, TILE = 128, DEPTH = 32, PAD = 8;

// What a block multiplies at a time.
struct Tiles {
    bf16 a[TILE][DEPTH + PAD];
    bf16 b[DEPTH][TILE + PAD];
};

// Adds the product of two tiles to the 64 x 32 sums of a warp, whose first row and column of
// the block's tile are given.
__device__ __forceinline__ void multiply_tiles(float (&sums)[4][4][4], const Tiles& tiles,
                                               int row, int column) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int inner = 0; inner < DEPTH; inner += 16) {
        unsigned of_a[4][4], of_b[2][4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            load_matrices(of_a[i], &tiles.a[row + 16 * i + lane % 16][inner + lane / 16 * 8]);
#pragma unroll
        for (int j = 0; j < 2; j++) {
            load_matrices_transposed(
                of_b[j], &tiles.b[inner + lane % 16][column + 16 * j + lane / 16 * 8]);
        }
#pragma unroll
        for (int i = 0; i < 4; i++) {
#pragma unroll
            for (int j = 0; j < 4; j++)
                multiply(sums[i][j], of_a[i], of_b[j / 2][j % 2 * 2],
                         of_b[j / 2][j % 2 * 2 + 1]);
        }
    }
}

// The product of a block's tiles, as the solution of gemm_tile has it: the next tiles are in
// flight, to registers, while the tensor cores work on those in shared memory.
__device__ __forceinline__ void multiply_all(float (&sums)[4][4][4], const bf16* a,
                                             const bf16* b, size_t m, size_t n, size_t k,
                                             int row, int column) {
    __shared__ __align__(16) Tiles tiles;
    const size_t top = (size_t)blockIdx.x * TILE, left = (size_t)blockIdx.y * TILE;
    uint4 next_a[2], next_b[2];
    auto fetch = [&](size_t step) {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const int at = threadIdx.x + i * THREADS;
            const size_t of_a = step + at % 4 * 8, of_b = left + at % 16 * 8;
            const bool in_a = top + at / 4 < m && of_a < k,
                       in_b = step + at / 16 < k && of_b < n;
            const uint4 none = make_uint4(0, 0, 0, 0);
            next_a[i] = in_a ? *(const uint4*)&a[(top + at / 4) * k + of_a] : none;
            next_b[i] = in_b ? *(const uint4*)&b[(step + at / 16) * n + of_b] : none;
        }
    };
    fetch(0);
    for (size_t step = 0; step < k; step += DEPTH) {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const int at = threadIdx.x + i * THREADS;
            *(uint4*)&tiles.a[at / 4][at % 4 * 8] = next_a[i];
            *(uint4*)&tiles.b[at / 16][at % 16 * 8] = next_b[i];
        }
        __syncthreads();
        fetch(step + DEPTH);
        multiply_tiles(sums, tiles, row, column);
        __syncthreads();
    }
}

// ANCHOR: elements
// Writes what becomes of a warp's sums, whose first row and column of d are given.
__device__ __forceinline__ void finish_elements(const float (&sums)[4][4][4], const bf16* bias,
                                                const bf16* residual, bf16* d, size_t row,
                                                size_t column, size_t m, size_t n) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < 64; i++) {
        const size_t r = row + i / 16 * 16 + i / 2 % 2 * 8 + lane / 4,
                     at = column + i / 4 % 4 * 8 + lane % 4 * 2 + i % 2;
        if (r >= m || at >= n) continue;
        const float sum = sums[i / 16][i / 4 % 4][i % 4];
        const float activated = gelu_tanh(sum + __bfloat162float(bias[at]));
        d[r * n + at] = __float2bfloat16(activated + __bfloat162float(residual[r * n + at]));
    }
}
// ANCHOR_END: elements

extern "C" __global__ void __launch_bounds__(THREADS, 2)
    gemm_bias_gelu_elements(const bf16* __restrict__ a, const bf16* __restrict__ b,
                            const bf16* bias, const bf16* residual, bf16* d, size_t m, size_t n,
                            size_t k) {
    const int row = threadIdx.x / 128 * 64, column = threadIdx.x / 32 % 4 * 32;
    float sums[4][4][4] = {};
    multiply_all(sums, a, b, m, n, k, row, column);
    finish_elements(sums, bias, residual, d, (size_t)blockIdx.x * TILE + row,
                    (size_t)blockIdx.y * TILE + column, m, n);
}

// ANCHOR: pairs
template <typename Gelu>
__device__ __forceinline__ void finish_pairs(Gelu gelu, const float (&sums)[4][4][4],
                                             const bf16* bias, const bf16* residual, bf16* d,
                                             size_t row, size_t column, size_t m, size_t n) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const size_t at = column + 8 * j + lane % 4 * 2;
        if (at >= n) continue;
        const float2 of_column = __bfloat1622float2(*(const __nv_bfloat162*)&bias[at]);
#pragma unroll
        for (int i = 0; i < 8; i++) {
            const size_t r = row + 8 * i + lane / 4;
            if (r >= m) continue;
            const float2 rest =
                __bfloat1622float2(*(const __nv_bfloat162*)&residual[r * n + at]);
            const float one = gelu(sums[i / 2][j][i % 2 * 2] + of_column.x) + rest.x,
                        two = gelu(sums[i / 2][j][i % 2 * 2 + 1] + of_column.y) + rest.y;
            *(__nv_bfloat162*)&d[r * n + at] = __floats2bfloat162_rn(one, two);
        }
    }
}
// ANCHOR_END: pairs

extern "C" __global__ void __launch_bounds__(THREADS, 2)
    gemm_bias_gelu_pairs(const bf16* __restrict__ a, const bf16* __restrict__ b,
                         const bf16* __restrict__ bias, const bf16* __restrict__ residual,
                         bf16* __restrict__ d, size_t m, size_t n, size_t k) {
    const int row = threadIdx.x / 128 * 64, column = threadIdx.x / 32 % 4 * 32;
    float sums[4][4][4] = {};
    multiply_all(sums, a, b, m, n, k, row, column);
    finish_pairs([](float t) { return gelu_tanh(t); }, sums, bias, residual, d,
                 (size_t)blockIdx.x * TILE + row, (size_t)blockIdx.y * TILE + column, m, n);
}

extern "C" __global__ void __launch_bounds__(THREADS, 2)
    gemm_bias_gelu_fast(const bf16* __restrict__ a, const bf16* __restrict__ b,
                        const bf16* __restrict__ bias, const bf16* __restrict__ residual,
                        bf16* __restrict__ d, size_t m, size_t n, size_t k) {
    const int row = threadIdx.x / 128 * 64, column = threadIdx.x / 32 % 4 * 32;
    float sums[4][4][4] = {};
    multiply_all(sums, a, b, m, n, k, row, column);
    finish_pairs([](float t) { return gelu_fast(t); }, sums, bias, residual, d,
                 (size_t)blockIdx.x * TILE + row, (size_t)blockIdx.y * TILE + column, m, n);
}

extern "C" __global__ void __launch_bounds__(THREADS, 2)
    gemm_bias_gelu_pipeline(const bf16* __restrict__ a, const bf16* __restrict__ b,
                            const bf16* __restrict__ bias, const bf16* __restrict__ residual,
                            bf16* __restrict__ d, size_t m, size_t n, size_t k) {
    const int STAGES = 3;
    extern __shared__ __align__(16) Tiles stages[];
    const size_t top = (size_t)blockIdx.x * TILE, left = (size_t)blockIdx.y * TILE;
    const int row = threadIdx.x / 128 * 64, column = threadIdx.x / 32 % 4 * 32;
    const size_t steps = (k + DEPTH - 1) / DEPTH;
    auto start = [&](size_t number) {
        Tiles& tiles = stages[number % STAGES];
        const size_t step = number * DEPTH;
#pragma unroll
        for (int at = threadIdx.x; at < TILE * DEPTH / 8; at += THREADS) {
            const size_t of_a = step + at % 4 * 8, of_b = left + at % 16 * 8;
            const bool in_a = top + at / 4 < m && of_a < k,
                       in_b = step + at / 16 < k && of_b < n;
            copy16_async(&tiles.a[at / 4][at % 4 * 8], in_a ? &a[(top + at / 4) * k + of_a] : a,
                         in_a);
            copy16_async(&tiles.b[at / 16][at % 16 * 8],
                         in_b ? &b[(step + at / 16) * n + of_b] : b, in_b);
        }
    };
    float sums[4][4][4] = {};
    for (int number = 0; number < STAGES - 1; number++) {
        if (number < steps) start(number);
        commit_copies();
    }
    for (size_t number = 0; number < steps; number++) {
        // The oldest group is there for this thread, and after the barrier for all. All have
        // left the stage that is copied to next.
        wait_for_copies<STAGES - 2>();
        __syncthreads();
        if (number + STAGES - 1 < steps) start(number + STAGES - 1);
        commit_copies();
        multiply_tiles(sums, stages[number % STAGES], row, column);
    }
    finish_pairs([](float t) { return gelu_fast(t); }, sums, bias, residual, d, top + row,
                 left + column, m, n);
}

// ANCHOR: packs
// Tiles without padding, whose packs of eight elements are in another order in each row: those that one `ldmatrix` reads below
// each other are in different banks.
struct Swizzled {
    static const int ROWS = 128, COLUMNS = 128;
    bf16 a[ROWS * DEPTH];
    bf16 b[DEPTH * COLUMNS];

    // Two rows of a fill the banks, and one row of b fills them twice.
    __device__ bf16* pack_of_a(int row, int pack) { return &a[row * DEPTH + (pack ^ row / 2 % 4) * 8]; }
    __device__ bf16* pack_of_b(int row, int pack) { return &b[row * COLUMNS + (pack ^ row % 8) * 8]; }
};

// For rows that begin at multiples of 16 bytes, and a bias that does.
extern "C" __global__ void __launch_bounds__(128, 3)
    gemm_bias_gelu_packs(const bf16* __restrict__ a, const bf16* __restrict__ b, const bf16* __restrict__ bias,
                          const bf16* __restrict__ residual, bf16* __restrict__ d, size_t m, size_t n, size_t k) {
    const int STAGES = 4;
    extern __shared__ __align__(128) Swizzled ring[];
    const int ROWS = Swizzled::ROWS, COLUMNS = Swizzled::COLUMNS;
    const size_t top = (size_t)blockIdx.x * ROWS, left = (size_t)blockIdx.y * COLUMNS;
    const size_t steps = (k + DEPTH - 1) / DEPTH;
    // A thread's four packs of each tile: where the first is, and how far apart they are.
    const int row_a = threadIdx.x / 4, pack_a = threadIdx.x % 4, row_b = threadIdx.x / 16, pack_b = threadIdx.x % 16;
    const bf16* from_a = a + (top + row_a) * k + 8 * pack_a;
    const bf16* from_b = b + row_b * n + left + 8 * pack_b;
    const bool column_inside = left + 8 * pack_b < n;
    auto start = [&](size_t number) {
        Swizzled& tiles = ring[number % STAGES];
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
        Swizzled& tiles = ring[number % STAGES];
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
    float* all = (float*)ring;
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
// ANCHOR_END: packs
