// Tiles of 64 x 64 in shared memory and the functions of mma.h, with a block for each tile: the product as most would write it.
#include <cuda_bf16.h>
#include <mma.h>

using namespace nvcuda;

// A block of 128 threads has 64 x 64 sums, and each warp 32 x 32.
extern "C" __global__ void gemm_dequant(const __nv_bfloat16* a, const signed char* q, const float* scale, __nv_bfloat16* d,
                                        size_t m, size_t n, size_t k) {
    __shared__ __align__(32) __nv_bfloat16 tile_a[64][40], tile_b[32][72];
    __shared__ __align__(32) float results[64][68];
    const int warp = threadIdx.x / 32, row = warp / 2 * 32, column = warp % 2 * 32;
    const size_t top = (size_t)blockIdx.x * 64, left = (size_t)blockIdx.y * 64;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[2][2];
    for (int i = 0; i < 4; i++) wmma::fill_fragment(sums[i / 2][i % 2], 0.0f);
    for (size_t step = 0; step < k; step += 32) {
        for (int i = threadIdx.x; i < 64 * 32; i += 128) {
            const size_t r = top + i / 32, inner = step + i % 32, below = step + i / 64, j = left + i % 64;
            tile_a[i / 32][i % 32] = r < m && inner < k ? a[r * k + inner] : __nv_bfloat16(0.0f);
            tile_b[i / 64][i % 64] = __float2bfloat16(below < k && j < n ? (float)q[below * n + j] : 0.0f);
        }
        __syncthreads();
        for (int inner = 0; inner < 32; inner += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> of_a[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> of_b[2];
            for (int i = 0; i < 2; i++) {
                wmma::load_matrix_sync(of_a[i], &tile_a[row + 16 * i][inner], 40);
                wmma::load_matrix_sync(of_b[i], &tile_b[inner][column + 16 * i], 72);
            }
            for (int i = 0; i < 4; i++) wmma::mma_sync(sums[i / 2][i % 2], of_a[i / 2], of_b[i % 2], sums[i / 2][i % 2]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++) {
        wmma::store_matrix_sync(&results[row + i / 2 * 16][column + i % 2 * 16], sums[i / 2][i % 2], 68, wmma::mem_row_major);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 64 * 64; i += 128) {
        const size_t r = top + i / 64, j = left + i % 64;
        if (r < m && j < n) d[r * n + j] = __float2bfloat16(results[i / 64][i % 64] * scale[j]);
    }
}
