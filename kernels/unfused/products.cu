// Products of matrices, c = a b, row-major, where a is m x k, b is k x n and c is m x n, and what follows them in an unfused chain.
//
// Arguments of a product are the buffers read, the buffers written, and m, n and k. The tiles of c's rows are along x in the grid.
#include <cuda_bf16.h>

#include "activation.cuh"
#include "pack.cuh"
#include "tensor.cuh"

// ANCHOR: gemm
// A block of 256 threads has a tile of 64 x 64 sums, and each thread 4 x 4 of them, in f32. The tiles of a and b that it multiplies
// are in shared memory.
extern "C" __global__ void gemm_bf16(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, size_t m, size_t n,
                                     size_t k) {
    const int TILE = 64, DEPTH = 16, EACH = 4;
    __shared__ float rows[DEPTH][TILE + 4];
    __shared__ float columns[DEPTH][TILE];
    const int x = threadIdx.x % (TILE / EACH), y = threadIdx.x / (TILE / EACH);
    const size_t top = (size_t)blockIdx.x * TILE, left = (size_t)blockIdx.y * TILE;

    float sums[EACH][EACH] = {};
    for (size_t step = 0; step < k; step += DEPTH) {
        for (int i = threadIdx.x; i < TILE * DEPTH; i += blockDim.x) {
            const size_t row = top + i / DEPTH, inner = step + i % DEPTH;
            rows[i % DEPTH][i / DEPTH] = row < m && inner < k ? __bfloat162float(a[row * k + inner]) : 0.0f;
            const size_t below = step + i / TILE, column = left + i % TILE;
            columns[i / TILE][i % TILE] = below < k && column < n ? __bfloat162float(b[below * n + column]) : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int inner = 0; inner < DEPTH; inner++) {
            float above[EACH], beside[EACH];
#pragma unroll
            for (int j = 0; j < EACH; j++) {
                above[j] = rows[inner][EACH * y + j];
                beside[j] = columns[inner][EACH * x + j];
            }
#pragma unroll
            for (int i = 0; i < EACH; i++) {
#pragma unroll
                for (int j = 0; j < EACH; j++) sums[i][j] += above[i] * beside[j];
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < EACH; i++) {
        for (int j = 0; j < EACH; j++) {
            const size_t row = top + EACH * y + i, column = left + EACH * x + j;
            if (row < m && column < n) c[row * n + column] = __float2bfloat16(sums[i][j]);
        }
    }
}
// ANCHOR_END: gemm

#if __CUDA_ARCH__ >= 800
// Eight elements of a matrix, with zeros for those that it does not have. With PACKS one access can read them.
template <bool PACKS>
__device__ Pack<__nv_bfloat16> eight_elements(const __nv_bfloat16* from, size_t row, size_t column, size_t rows,
                                              size_t columns) {
    Pack<__nv_bfloat16> found;
    if (PACKS) {
        const bool inside = row < rows && column < columns;
        found.bits = inside ? *(const uint4*)&from[row * columns + column] : make_uint4(0, 0, 0, 0);
    } else {
        for (int j = 0; j < 8; j++) {
            const bool inside = row < rows && column + j < columns;
            found.at[j] = inside ? from[row * columns + column + j] : __nv_bfloat16(0.0f);
        }
    }
    return found;
}

// ANCHOR: tensor
// The same on tensor cores, as plainly: tiles of 128 x 32 and 32 x 128 elements, and 64 x 32 sums for each of eight warps.
namespace tensor {
const int THREADS = 256, TILE = 128, DEPTH = 32, PAD = 8;
typedef __nv_bfloat16 TileA[TILE][DEPTH + PAD];
typedef __nv_bfloat16 TileB[DEPTH][TILE + PAD];
typedef float Sums[4][4][4];

template <bool PACKS>
__device__ void add_products(Sums& sums, TileA& tile_a, TileB& tile_b, const __nv_bfloat16* a, const __nv_bfloat16* b,
                             size_t top, size_t left, size_t m, size_t n, size_t k) {
    const int lane = threadIdx.x % 32, row = threadIdx.x / 128 * 64, column = threadIdx.x / 32 % 4 * 32;
    Pack<__nv_bfloat16> next_a[2], next_b[2];
    auto fetch = [&](size_t step) {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const int at = threadIdx.x + i * THREADS;
            next_a[i] = eight_elements<PACKS>(a, top + at / 4, step + at % 4 * 8, m, k);
            next_b[i] = eight_elements<PACKS>(b, step + at / 16, left + at % 16 * 8, k, n);
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
            unsigned of_a[4][4], of_b[2][4];
#pragma unroll
            for (int i = 0; i < 4; i++) load_matrices(of_a[i], &tile_a[row + 16 * i + lane % 16][inner + lane / 16 * 8]);
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
        __syncthreads();
    }
}
} // namespace tensor

extern "C" __launch_bounds__(256, 2) __global__
    void gemm_tensor_bf16(const __nv_bfloat16* __restrict__ a, const __nv_bfloat16* __restrict__ b, __nv_bfloat16* __restrict__ c,
                          size_t m, size_t n, size_t k) {
    __shared__ __align__(16) tensor::TileA tile_a;
    __shared__ __align__(16) tensor::TileB tile_b;
    const size_t top = (size_t)blockIdx.x * tensor::TILE, left = (size_t)blockIdx.y * tensor::TILE;
    const bool packs = k % 8 == 0 && n % 8 == 0 && ((size_t)a | (size_t)b) % 16 == 0;
    const int lane = threadIdx.x % 32, row = threadIdx.x / 128 * 64, column = threadIdx.x / 32 % 4 * 32;
    tensor::Sums sums = {};
    if (packs) {
        tensor::add_products<true>(sums, tile_a, tile_b, a, b, top, left, m, n, k);
    } else {
        tensor::add_products<false>(sums, tile_a, tile_b, a, b, top, left, m, n, k);
    }
    const bool pairs = n % 2 == 0 && (size_t)c % 4 == 0;
#pragma unroll
    for (int i = 0; i < 4; i++) {
#pragma unroll
        for (int j = 0; j < 4; j++) {
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const size_t r = top + row + 16 * i + 8 * half + lane / 4, at = left + column + 8 * j + lane % 4 * 2;
                if (r >= m || at >= n) continue;
                const float one = sums[i][j][2 * half], two = sums[i][j][2 * half + 1];
                if (pairs) {
                    *(__nv_bfloat162*)&c[r * n + at] = __floats2bfloat162_rn(one, two);
                } else {
                    c[r * n + at] = __float2bfloat16(one);
                    if (at + 1 < n) c[r * n + at + 1] = __float2bfloat16(two);
                }
            }
        }
    }
}
// ANCHOR_END: tensor
#endif

// ANCHOR: epilogue
// What follows a product, a launch each.
extern "C" __global__ void add_columns_bf16(const __nv_bfloat16* x, const __nv_bfloat16* bias, __nv_bfloat16* out, size_t rows,
                                            size_t columns) {
    const size_t start = (size_t)blockIdx.x * columns;
    for (size_t column = threadIdx.x; column < columns; column += blockDim.x) {
        out[start + column] = __float2bfloat16(__bfloat162float(x[start + column]) + __bfloat162float(bias[column]));
    }
}

extern "C" __global__ void gelu_bf16(const __nv_bfloat16* x, __nv_bfloat16* out, size_t n) {
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = __float2bfloat16(gelu_tanh(__bfloat162float(x[i])));
}
// ANCHOR_END: epilogue
