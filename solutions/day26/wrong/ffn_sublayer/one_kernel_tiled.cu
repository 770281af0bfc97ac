#include <cuda_fp16.h>

#include "activation.cuh"

const int TILE = 64;   // Rows and columns of the result that a block computes.
const int DEPTH = 16;  // Columns of the normalised rows, and rows of w, that it holds at a time.
const int EACH = 4;    // Rows and columns of the result that a thread computes.

extern "C" __global__ void ffn_sublayer(const __half* __restrict__ x, const __half* __restrict__ gamma, const __half* __restrict__ beta,
                                        const __half* __restrict__ w, const __half* __restrict__ bias, __half* __restrict__ out,
                                        size_t rows, size_t columns) {
    __shared__ float left[DEPTH][TILE + 4];
    __shared__ float right[DEPTH][TILE];
    __shared__ float means[TILE], factors[TILE];
    const size_t first_row = (size_t)blockIdx.y * TILE, first_column = (size_t)blockIdx.x * TILE;

    // A warp takes every eighth row of the tile.
    for (int row = threadIdx.x / 32; row < TILE; row += 8) {
        float sum = 0.0f, squares = 0.0f;
        const bool there = first_row + row < rows;
        const __half* values = x + (first_row + row) * columns;
        for (int i = threadIdx.x % 32; there && i < columns; i += 32) sum += __half2float(values[i]);
        for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffff, sum, distance);
        const float mean = sum / columns;
        for (int i = threadIdx.x % 32; there && i < columns; i += 32) {
            const float distance = __half2float(values[i]) - mean;
            squares += distance * distance;
        }
        for (int distance = 16; distance > 0; distance /= 2) squares += __shfl_xor_sync(0xffffffff, squares, distance);
        if (threadIdx.x % 32 == 0) {
            means[row] = mean;
            factors[row] = rsqrtf(squares / columns + 1e-5f);
        }
    }
    __syncthreads();

    const int across = threadIdx.x % (TILE / EACH), down = threadIdx.x / (TILE / EACH);
    float sums[EACH][EACH] = {};
    for (size_t step = 0; step < columns; step += DEPTH) {
        for (int i = threadIdx.x; i < TILE * DEPTH; i += blockDim.x) {
            const int row = i / DEPTH;
            const size_t inner = step + i % DEPTH;
            float normed = 0.0f;
            if (first_row + row < rows && inner < columns) {
                normed = (__half2float(x[(first_row + row) * columns + inner]) - means[row]) * factors[row];
                normed = normed * __half2float(gamma[inner]) + __half2float(beta[inner]);
            }
            left[i % DEPTH][row] = normed;
            const size_t below = step + i / TILE, column = first_column + i % TILE;
            right[i / TILE][i % TILE] = below < columns && column < columns ? __half2float(w[below * columns + column]) : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int inner = 0; inner < DEPTH; inner++) {
#pragma unroll
            for (int i = 0; i < EACH; i++) {
#pragma unroll
                for (int j = 0; j < EACH; j++) sums[i][j] += left[inner][EACH * down + i] * right[inner][EACH * across + j];
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < EACH; i++) {
        for (int j = 0; j < EACH; j++) {
            const size_t row = first_row + EACH * down + i, column = first_column + EACH * across + j;
            if (row < rows && column < columns) {
                const float t = sums[i][j] + __half2float(bias[column]);
                out[row * columns + column] = __float2half(__half2float(x[row * columns + column]) + gelu_tanh(t));
            }
        }
    }
}
