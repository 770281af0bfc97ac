// Products of matrices without tensor cores: c = a b, row-major, where a is m x k, b is k x n and c is m x n.
//
// Arguments are the buffers read, the buffers written, and m, n and k. The tiles of c's rows are along x in the grid.
#include <cuda_bf16.h>

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
