// gemm_bias_gelu: d = gelu(a b + bias) + residual, all bf16 with sums and what follows them in f32, rounded once.
//
// a is `m` x `k`, b is `k` x `n`, residual and d are `m` x `n`, all row after row, and bias has `n` elements, one for
// each column. GELU is its tanh form.
//
// It fuses four launches: the product alone, the sum with the bias, GELU, and the sum with the residual. What the first
// three write, `m` x `n` elements each, is read again by the next.
//
// Grade it with: cargo xtask grade gemm_bias_gelu
#include <cuda_bf16.h>
#include "activation.cuh"
#include "pack.cuh"
#include "tensor.cuh"

typedef __nv_bfloat16 bf16;

const int THREADS = 256;
const int TILE = 128; // Rows and columns of d that a block computes.
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

// ANCHOR: kernel
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

// ANCHOR: epilogue
// `eight` and its opposite for what this thread alone reads or writes. The L2 may forget that first, and so keeps more of
// the factors, which many blocks read.
template <bool PACKS>
__device__ Pack<bf16> read_once(const bf16* from, size_t row, size_t column, size_t rows, size_t columns) {
    if (!PACKS) return eight<false>(from, row, column, rows, columns);
    Pack<bf16> found;
    const bool inside = row < rows && column < columns;
    found.bits = inside ? __ldcs((const uint4*)&from[row * columns + column]) : make_uint4(0, 0, 0, 0);
    return found;
}

template <bool PACKS>
__device__ void write_once(bf16* to, const Pack<bf16>& pack, size_t row, size_t column, size_t rows, size_t columns) {
    if (row >= rows) return;
    if (PACKS) {
        if (column < columns) __stcs((uint4*)&to[row * columns + column], pack.bits);
    } else {
        for (int j = 0; j < 8 && column + j < columns; j++) to[row * columns + column + j] = pack.at[j];
    }
}

// Sixteen rows of a warp's sums, on their way from lane to lane. A row is 16 bytes longer than what it holds, for the banks.
typedef float Passage[16][32 + 4];

// Writes what becomes of a warp's sums, whose first row and column of d are `row` and `column`. The sums are whole, and still
// in registers, but a lane has pairs of neighbours in eight rows. Through shared memory it gets eight neighbours of a
// row, so that it can read and write sixteen bytes at a time.
template <bool PACKS>
__device__ void finish(const Sums& sums, Passage& passage, const bf16* bias, const bf16* residual, bf16* d, size_t row,
                       size_t column, size_t m, size_t n) {
    const int lane = threadIdx.x % 32;
    const size_t first = row + lane / 4, at = column + lane % 4 * 8;
    const Pack<bf16> shift = eight<PACKS>(bias, 0, at, 1, n);
    // The residual of all eight rows is asked for before the first of them needs it.
    Pack<bf16> rest[8];
#pragma unroll
    for (int i = 0; i < 8; i++) rest[i] = read_once<PACKS>(residual, first + 8 * i, at, m, n);
#pragma unroll
    for (int i = 0; i < 8; i++) {
        if (i % 2 == 0) {
            __syncwarp();
#pragma unroll
            for (int j = 0; j < 4; j++) {
                const float* four = sums[i / 2][j];
                *(float2*)&passage[lane / 4][8 * j + lane % 4 * 2] = make_float2(four[0], four[1]);
                *(float2*)&passage[lane / 4 + 8][8 * j + lane % 4 * 2] = make_float2(four[2], four[3]);
            }
            __syncwarp();
        }
        const float4* found = (const float4*)&passage[i % 2 * 8 + lane / 4][lane % 4 * 8];
        const float4 low = found[0], high = found[1];
        const float sum[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
        Pack<bf16> result;
#pragma unroll
        for (int pair = 0; pair < 4; pair++) {
            const float2 of_column = to_float2(shift, pair), add = to_float2(rest[i], pair);
            const float one = gelu_fast(sum[2 * pair] + of_column.x);
            const float two = gelu_fast(sum[2 * pair + 1] + of_column.y);
            set_float2(result, pair, make_float2(one + add.x, two + add.y));
        }
        write_once<PACKS>(d, result, first + 8 * i, at, m, n);
    }
}
// ANCHOR_END: epilogue

// The tiles, and when the sums are whole a passage for each warp.
union Memory {
    struct {
        TileA a;
        TileB b;
    } tiles;
    Passage passages[THREADS / 32];
};

// What a block computes: the product of 128 rows and 128 columns, and all that follows.
template <bool PACKS>
__device__ __forceinline__ void compute(const bf16* a, const bf16* b, const bf16* bias, const bf16* residual, bf16* d, size_t m,
                                        size_t n, size_t k) {
    __shared__ __align__(16) Memory memory;
    const size_t top = (size_t)blockIdx.x * TILE, left = (size_t)blockIdx.y * TILE;
    const int warp = threadIdx.x / 32;
    Sums sums = {};
    add_products<PACKS>(sums, memory.tiles.a, memory.tiles.b, a, b, top, left, m, n, k);
    finish<PACKS>(sums, memory.passages[warp], bias, residual, d, top + warp / 4 * 64, left + warp % 4 * 32, m, n);
}

// At most 128 registers per thread, so that an SM holds two blocks: one multiplies while the other waits at a barrier, or is
// at its end. For rows that begin at multiples of 16 bytes, and a bias that does.
extern "C" __global__ void __launch_bounds__(256, 2)
    gemm_bias_gelu(const bf16* __restrict__ a, const bf16* __restrict__ b, const bf16* __restrict__ bias,
                   const bf16* __restrict__ residual, bf16* __restrict__ d, size_t m, size_t n, size_t k) {
    compute<true>(a, b, bias, residual, d, m, n, k);
}

// For all others, element by element. It is a kernel of its own: with both in one, the assembler has too few registers for
// either.
extern "C" __global__ void __launch_bounds__(256, 2)
    gemm_bias_gelu_any(const bf16* __restrict__ a, const bf16* __restrict__ b, const bf16* __restrict__ bias,
                       const bf16* __restrict__ residual, bf16* __restrict__ d, size_t m, size_t n, size_t k) {
    compute<false>(a, b, bias, residual, d, m, n, k);
}
// ANCHOR_END: kernel
