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

// Some neighbouring elements of a row, in one access if `PACKS`, with zeros for those that the matrix does not have.
template <bool PACKS, typename Access>
__device__ __forceinline__ Access neighbours(const __nv_bfloat16* from, size_t row, size_t column, size_t rows, size_t columns) {
    const int SIZE = sizeof(Access) / sizeof(__nv_bfloat16);
    union { Access all; __nv_bfloat16 at[SIZE]; } found;
    if (PACKS) {
        found.all = row < rows && column < columns ? *(const Access*)&from[row * columns + column] : Access();
    } else {
#pragma unroll
        for (int j = 0; j < SIZE; j++) {
            found.at[j] = row < rows && column + j < columns ? from[row * columns + column + j] : __nv_bfloat16(0.0f);
        }
    }
    return found.all;
}

// Adds what a warp has of the product of 16 rows and 32 columns: of each 1024 terms 64. A lane reads eight neighbouring elements of two
// rows of a, and four of eight rows of b. Terms may be added in any order, so they go to the tensor cores as the lanes have them.
template <bool PACKS>
__device__ __forceinline__ void add_few_rows(float (&sums)[4][4], const __nv_bfloat16* a, const __nv_bfloat16* b, size_t top,
                                             size_t left, size_t m, size_t n, size_t k) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const size_t row = top + lane / 4, column = left + lane / 4 * 4;
    for (size_t step = 64 * warp; step < k; step += 1024) {
        uint4 upper[2], lower[2];
        unsigned weights[2][8][2];
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const size_t term = step + 32 * i + lane % 4 * 8;
            upper[i] = neighbours<PACKS, uint4>(a, row, term, m, k);
            lower[i] = neighbours<PACKS, uint4>(a, row + 8, term, m, k);
#pragma unroll
            for (int j = 0; j < 8; j++) {
                const uint2 four = neighbours<PACKS, uint2>(b, term + j, column, k, n);
                weights[i][j][0] = four.x;
                weights[i][j][1] = four.y;
            }
        }
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const uint4 u = upper[i / 2], l = lower[i / 2];
            const unsigned of_a[4] = {i % 2 ? u.z : u.x, i % 2 ? l.z : l.x, i % 2 ? u.w : u.y, i % 2 ? l.w : l.y};
            const unsigned (&of_b)[8][2] = weights[i / 2];
            const int first = i % 2 * 4;
#pragma unroll
            for (int j = 0; j < 4; j++) {
                // The halves of two words that are a column's.
                const int chosen = j % 2 ? 0x7632 : 0x5410;
                multiply(sums[j], of_a, __byte_perm(of_b[first][j / 2], of_b[first + 1][j / 2], chosen),
                         __byte_perm(of_b[first + 2][j / 2], of_b[first + 3][j / 2], chosen));
            }
        }
    }
}

// ANCHOR: few_rows
// The same for few rows of a, where the bytes of b are all that counts: 16 x 32 elements of c for a block, whose 16 warps share the
// terms. Each has every sixteenth step of 64, and their sums are added at the end.
extern "C" __launch_bounds__(512) __global__
    void gemm_few_rows_bf16(const __nv_bfloat16* __restrict__ a, const __nv_bfloat16* __restrict__ b, __nv_bfloat16* __restrict__ c,
                            size_t m, size_t n, size_t k) {
    __shared__ __align__(16) float parts[16][16][36];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / 4, member = lane % 4;
    const size_t top = (size_t)blockIdx.x * 16, left = (size_t)blockIdx.y * 32;
    const bool packs = k % 8 == 0 && n % 4 == 0 && (size_t)a % 16 == 0 && (size_t)b % 8 == 0;
    float sums[4][4] = {};
    if (packs) {
        add_few_rows<true>(sums, a, b, top, left, m, n, k);
    } else {
        add_few_rows<false>(sums, a, b, top, left, m, n, k);
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        *(float4*)&parts[warp][group + i / 2 * 8][8 * member + i % 2 * 4] = make_float4(sums[0][i], sums[1][i], sums[2][i], sums[3][i]);
    }
    __syncthreads();
    const size_t row = top + warp, column = left + lane;
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < 16; i++) sum += parts[i][warp][lane];
    if (row < m && column < n) c[row * n + column] = __float2bfloat16(sum);
}
// ANCHOR_END: few_rows
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

// ANCHOR: dequantize
// Weights in int8, `rows` x `columns` with a scale for each column, as bf16.
extern "C" __global__ void dequantize_bf16(const signed char* q, const float* scale, __nv_bfloat16* out, size_t rows, size_t columns) {
    const size_t start = (size_t)blockIdx.x * columns;
    for (size_t column = threadIdx.x; column < columns; column += blockDim.x) {
        out[start + column] = __float2bfloat16((float)q[start + column] * scale[column]);
    }
}
// ANCHOR_END: dequantize
