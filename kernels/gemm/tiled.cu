// A matrix product in f16 with sums in f32, for devices on which the vendor's library is not installed. c = a b, row-major:
// a is m x k, b is k x n. It stands for a library's product: correct and reasonable, without tensor cores.
#include <cuda_fp16.h>

const int TILE = 64;  // Rows and columns of c that a block computes.
const int DEPTH = 16; // Columns of a and rows of b that it holds at a time.
const int EACH = 4;   // Rows and columns of c that a thread computes.

extern "C" __global__ void gemm_f16(const __half* __restrict__ a, const __half* __restrict__ b, __half* __restrict__ c, size_t m,
                                    size_t n, size_t k) {
    __shared__ float rows[DEPTH][TILE + 4];
    __shared__ float columns[DEPTH][TILE];
    const int x = threadIdx.x % (TILE / EACH), y = threadIdx.x / (TILE / EACH);
    const size_t first_row = (size_t)blockIdx.y * TILE, first_column = (size_t)blockIdx.x * TILE;

    float sums[EACH][EACH] = {};
    for (size_t step = 0; step < k; step += DEPTH) {
        for (int i = threadIdx.x; i < TILE * DEPTH; i += blockDim.x) {
            const size_t row = first_row + i / DEPTH, inner = step + i % DEPTH;
            rows[i % DEPTH][i / DEPTH] = row < m && inner < k ? __half2float(a[row * k + inner]) : 0.0f;
            const size_t below = step + i / TILE, column = first_column + i % TILE;
            columns[i / TILE][i % TILE] = below < k && column < n ? __half2float(b[below * n + column]) : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int inner = 0; inner < DEPTH; inner++) {
            float left[EACH], right[EACH];
#pragma unroll
            for (int j = 0; j < EACH; j++) {
                left[j] = rows[inner][EACH * y + j];
                right[j] = columns[inner][EACH * x + j];
            }
#pragma unroll
            for (int i = 0; i < EACH; i++) {
#pragma unroll
                for (int j = 0; j < EACH; j++) sums[i][j] += left[i] * right[j];
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < EACH; i++) {
        for (int j = 0; j < EACH; j++) {
            const size_t row = first_row + EACH * y + i, column = first_column + EACH * x + j;
            if (row < m && column < n) c[row * n + column] = __float2half(sums[i][j]);
        }
    }
}
