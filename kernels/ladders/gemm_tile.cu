// A product of matrices, from naive to a pipeline into tensor cores: c = a b in bf16 with sums
// in f32, where a is m x k, b is k x n and c is m x n, row after row. blockIdx.x counts the
// tiles of c's rows, blockIdx.y those of its columns.
//
//     gemm_tile_naive      a thread has an element of c, and reads a row of a and a column of b
//     gemm_tile_shared     a block has 32 x 32 elements of c, from tiles in shared memory
//     gemm_tile_tensor     128 x 128 elements, and tensor cores multiply the tiles
//     gemm_tile_padded     the same with tiles whose rows begin in different banks
//     gemm_tile_pipeline   the same with two tiles being copied while one is multiplied
//     gemm_tile_swizzled   128 threads with twice the sums each, three tiles being copied, and
//                          tiles in another order instead of padding
//
// Between the second and the third belongs `gemm_bf16` of the unfused kernels: 64 x 64
// elements, and 4 x 4 for each thread in registers.
#include <cuda_bf16.h>
#include "async.cuh"
#include "pack.cuh"
#include "tensor.cuh"

typedef __nv_bfloat16 bf16;

// ANCHOR: naive
extern "C" __global__ void gemm_tile_naive(const bf16* __restrict__ a,
                                           const bf16* __restrict__ b, bf16* __restrict__ c,
                                           size_t m, size_t n, size_t k) {
    const size_t row = blockIdx.x, column = (size_t)blockIdx.y * 256 + threadIdx.x;
    if (row >= m || column >= n) return;
    float sum = 0.0f;
    for (size_t i = 0; i < k; i++)
        sum += __bfloat162float(a[row * k + i]) * __bfloat162float(b[i * n + column]);
    c[row * n + column] = __float2bfloat16(sum);
}
// ANCHOR_END: naive

// ANCHOR: shared
extern "C" __global__ void gemm_tile_shared(const bf16* __restrict__ a,
                                            const bf16* __restrict__ b, bf16* __restrict__ c,
                                            size_t m, size_t n, size_t k) {
    __shared__ float tile_a[32][32], tile_b[32][32];
    const int x = threadIdx.x % 32, y = threadIdx.x / 32;
    const size_t row = (size_t)blockIdx.x * 32 + y, column = (size_t)blockIdx.y * 32 + x;
    float sum = 0.0f;
    for (size_t step = 0; step < k; step += 32) {
        tile_a[y][x] = row < m && step + x < k ? __bfloat162float(a[row * k + step + x]) : 0.0f;
        tile_b[y][x] =
            step + y < k && column < n ? __bfloat162float(b[(step + y) * n + column]) : 0.0f;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 32; i++) sum += tile_a[y][i] * tile_b[i][x];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = __float2bfloat16(sum);
}
// ANCHOR_END: shared

const int THREADS = 256, TILE = 128, DEPTH = 32;

// What a block multiplies at a time: TILE rows of DEPTH elements of a, and DEPTH rows of TILE
// of b, with PAD more in each row.
template <int PAD>
struct Tiles {
    bf16 a[TILE][DEPTH + PAD];
    bf16 b[DEPTH][TILE + PAD];
};

// ANCHOR: multiply
// Adds the product of two tiles to the 64 x 32 sums of a warp, whose first row and column of
// the block's tile are given.
template <int PAD>
__device__ __forceinline__ void multiply_tiles(float (&sums)[4][4][4], const Tiles<PAD>& tiles,
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
// ANCHOR_END: multiply

// Writes a warp's sums, whose first row and column of c are given. The rows of c begin at
// multiples of 16 bytes.
__device__ __forceinline__ void store_sums(const float (&sums)[4][4][4], bf16* c, size_t row,
                                           size_t column, size_t m, size_t n) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < 4; i++) {
#pragma unroll
        for (int j = 0; j < 4; j++) {
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const size_t r = row + 16 * i + 8 * half + lane / 4,
                             at = column + 8 * j + lane % 4 * 2;
                if (r < m && at < n) {
                    *(__nv_bfloat162*)&c[r * n + at] =
                        __floats2bfloat162_rn(sums[i][j][2 * half], sums[i][j][2 * half + 1]);
                }
            }
        }
    }
}

// ANCHOR: tensor
template <int PAD>
__device__ void tensor(const bf16* a, const bf16* b, bf16* c, size_t m, size_t n, size_t k) {
    __shared__ __align__(16) Tiles<PAD> tiles;
    const size_t top = (size_t)blockIdx.x * TILE, left = (size_t)blockIdx.y * TILE;
    const int row = threadIdx.x / 128 * 64, column = threadIdx.x / 32 % 4 * 32;
    float sums[4][4][4] = {};
    for (size_t step = 0; step < k; step += DEPTH) {
#pragma unroll
        for (int at = threadIdx.x; at < TILE * DEPTH / 8; at += THREADS) {
            const size_t of_a = step + at % 4 * 8, of_b = left + at % 16 * 8;
            const bool in_a = top + at / 4 < m && of_a < k,
                       in_b = step + at / 16 < k && of_b < n;
            const uint4 none = make_uint4(0, 0, 0, 0);
            *(uint4*)&tiles.a[at / 4][at % 4 * 8] =
                in_a ? *(const uint4*)&a[(top + at / 4) * k + of_a] : none;
            *(uint4*)&tiles.b[at / 16][at % 16 * 8] =
                in_b ? *(const uint4*)&b[(step + at / 16) * n + of_b] : none;
        }
        __syncthreads();
        multiply_tiles(sums, tiles, row, column);
        __syncthreads();
    }
    store_sums(sums, c, top + row, left + column, m, n);
}

extern "C" __global__ void __launch_bounds__(THREADS, 2)
    gemm_tile_tensor(const bf16* __restrict__ a, const bf16* __restrict__ b,
                     bf16* __restrict__ c, size_t m, size_t n, size_t k) {
    tensor<0>(a, b, c, m, n, k);
}

extern "C" __global__ void __launch_bounds__(THREADS, 2)
    gemm_tile_padded(const bf16* __restrict__ a, const bf16* __restrict__ b,
                     bf16* __restrict__ c, size_t m, size_t n, size_t k) {
    tensor<8>(a, b, c, m, n, k);
}
// ANCHOR_END: tensor

// ANCHOR: pipeline
extern "C" __global__ void __launch_bounds__(THREADS, 2)
    gemm_tile_pipeline(const bf16* __restrict__ a, const bf16* __restrict__ b,
                       bf16* __restrict__ c, size_t m, size_t n, size_t k) {
    const int STAGES = 3;
    extern __shared__ __align__(16) Tiles<8> stages[];
    const size_t top = (size_t)blockIdx.x * TILE, left = (size_t)blockIdx.y * TILE;
    const int row = threadIdx.x / 128 * 64, column = threadIdx.x / 32 % 4 * 32;
    const size_t steps = (k + DEPTH - 1) / DEPTH;
    auto start = [&](size_t number) {
        Tiles<8>& tiles = stages[number % STAGES];
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
    store_sums(sums, c, top + row, left + column, m, n);
}
// ANCHOR_END: pipeline

// ANCHOR: swizzled
// Tiles without padding, whose packs of eight elements are in another order in each row: those
// that one `ldmatrix` reads below each other are in different banks.
struct Swizzled {
    bf16 a[TILE * DEPTH];
    bf16 b[DEPTH * TILE];

    // Two rows of a fill the banks, and one row of b fills them twice.
    __device__ bf16* pack_of_a(int row, int pack) {
        return &a[row * DEPTH + (pack ^ row / 2 % 4) * 8];
    }
    __device__ bf16* pack_of_b(int row, int pack) {
        return &b[row * TILE + (pack ^ row % 8) * 8];
    }
};

extern "C" __global__ void __launch_bounds__(128, 3)
    gemm_tile_swizzled(const bf16* __restrict__ a, const bf16* __restrict__ b,
                       bf16* __restrict__ c, size_t m, size_t n, size_t k) {
    const int STAGES = 4;
    extern __shared__ __align__(128) Swizzled ring[];
    const size_t top = (size_t)blockIdx.x * TILE, left = (size_t)blockIdx.y * TILE;
    const size_t steps = (k + DEPTH - 1) / DEPTH;
    // A thread's four packs of each tile: where the first is, and how far apart they are.
    const int row_a = threadIdx.x / 4, pack_a = threadIdx.x % 4;
    const int row_b = threadIdx.x / 16, pack_b = threadIdx.x % 16;
    const bf16* from_a = a + (top + row_a) * k + 8 * pack_a;
    const bf16* from_b = b + row_b * n + left + 8 * pack_b;
    const bool column_inside = left + 8 * pack_b < n;
    auto start = [&](size_t number) {
        Swizzled& tiles = ring[number % STAGES];
        const size_t step = number * DEPTH;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const bool in_a = top + row_a + 32 * i < m && step + 8 * pack_a < k,
                       in_b = step + row_b + 8 * i < k && column_inside;
            copy16_async(tiles.pack_of_a(row_a + 32 * i, pack_a), from_a + 32 * i * k + step,
                         in_a);
            copy16_async(tiles.pack_of_b(row_b + 8 * i, pack_b), from_b + (step + 8 * i) * n,
                         in_b);
        }
    };

    // Two warps above each other, and two beside: 64 x 64 sums each.
    const int lane = threadIdx.x % 32, row = threadIdx.x / 64 * 64,
              column = threadIdx.x / 32 % 2 * 64;
    float sums[2][4][4][4] = {};
    for (int number = 0; number < STAGES - 1; number++) {
        if (number < steps) start(number);
        commit_copies();
    }
    for (size_t number = 0; number < steps; number++) {
        wait_for_copies<STAGES - 2>();
        __syncthreads();
        if (number + STAGES - 1 < steps) start(number + STAGES - 1);
        commit_copies();
        Swizzled& tiles = ring[number % STAGES];
#pragma unroll
        for (int inner = 0; inner < DEPTH; inner += 16) {
            unsigned of_a[4][4], of_b[4][4];
#pragma unroll
            for (int i = 0; i < 4; i++)
                load_matrices(of_a[i], tiles.pack_of_a(row + 16 * i + lane % 16,
                                                       inner / 8 + lane / 16));
#pragma unroll
            for (int j = 0; j < 4; j++)
                load_matrices_transposed(
                    of_b[j],
                    tiles.pack_of_b(inner + lane % 16, column / 8 + 2 * j + lane / 16));
#pragma unroll
            for (int i = 0; i < 4; i++) {
#pragma unroll
                for (int j = 0; j < 8; j++)
                    multiply(sums[j / 4][i][j % 4], of_a[i], of_b[j / 2][j % 2 * 2],
                             of_b[j / 2][j % 2 * 2 + 1]);
            }
        }
    }
#pragma unroll
    for (int half = 0; half < 2; half++)
        store_sums(sums[half], c, top + row, left + column + 32 * half, m, n);
}
// ANCHOR_END: swizzled
