// Kernels that fuse too much, and the ones beside them.
#include <cuda_fp16.h>

#include "activation.cuh"

// ANCHOR: one
const int ROWS = 32;     // Rows of the result that a block computes, all columns of them.
const int COLUMNS = 64;  // Columns of the result that it computes at a time.
const int DEPTH = 16;    // Columns of the normalised rows, and rows of w, that it holds at a time.

// The whole feed-forward sublayer in one kernel: the norm goes straight into the product's tiles, and the product straight
// into bias, GELU and residual. Nothing between x and out touches global memory. 256 threads.
extern "C" __global__ void ffn_in_one(const __half* __restrict__ x, const __half* __restrict__ gamma, const __half* __restrict__ beta, const __half* __restrict__ w, const __half* __restrict__ bias, __half* __restrict__ out, size_t rows, size_t columns) {
    __shared__ float left[DEPTH][ROWS + 1], right[DEPTH][COLUMNS], means[ROWS], factors[ROWS];
    const size_t first_row = (size_t)blockIdx.x * ROWS;
    for (int row = threadIdx.x / 32; row < ROWS; row += blockDim.x / 32) {
        const bool there = first_row + row < rows;
        const __half* values = x + (first_row + row) * columns;
        float sum = 0.0f, squares = 0.0f;
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

    // A thread computes 2 x 4 results.
    const int across = threadIdx.x % 16, down = threadIdx.x / 16;
    for (size_t first_column = 0; first_column < columns; first_column += COLUMNS) {
        float sums[2][4] = {};
        for (size_t step = 0; step < columns; step += DEPTH) {
            for (int i = threadIdx.x; i < ROWS * DEPTH; i += blockDim.x) {
                const int row = i / DEPTH;
                const size_t inner = step + i % DEPTH;
                float normed = 0.0f;
                if (first_row + row < rows && inner < columns) {
                    normed = (__half2float(x[(first_row + row) * columns + inner]) - means[row]) * factors[row];
                    normed = normed * __half2float(gamma[inner]) + __half2float(beta[inner]);
                }
                left[i % DEPTH][row] = normed;
            }
            for (int i = threadIdx.x; i < DEPTH * COLUMNS; i += blockDim.x) {
                const size_t inner = step + i / COLUMNS, column = first_column + i % COLUMNS;
                right[i / COLUMNS][i % COLUMNS] = inner < columns && column < columns ? __half2float(w[inner * columns + column]) : 0.0f;
            }
            __syncthreads();
#pragma unroll
            for (int inner = 0; inner < DEPTH; inner++) {
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    sums[0][j] += left[inner][down] * right[inner][across + 16 * j];
                    sums[1][j] += left[inner][down + 16] * right[inner][across + 16 * j];
                }
            }
            __syncthreads();
        }
        for (int i = 0; i < 2; i++) {
            for (int j = 0; j < 4; j++) {
                const size_t row = first_row + down + 16 * i, column = first_column + across + 16 * j;
                if (row < rows && column < columns) {
                    const float t = sums[i][j] + __half2float(bias[column]);
                    out[row * columns + column] = __float2half(__half2float(x[row * columns + column]) + gelu_tanh(t));
                }
            }
        }
    }
}
// ANCHOR_END: one

__device__ __forceinline__ size_t element() {
    return (size_t)blockIdx.x * blockDim.x + threadIdx.x;
}

// ANCHOR: consumers
extern "C" __global__ void add_gelu_to(const float* a, const float* b, float* t, size_t n) {
    const size_t i = element();
    if (i < n) t[i] = gelu_tanh(a[i] + b[i]);
}

extern "C" __global__ void times(const float* t, const float* c, float* p, size_t n) {
    const size_t i = element();
    if (i < n) p[i] = t[i] * c[i];
}

extern "C" __global__ void at_least(const float* t, const float* d, float* q, size_t n) {
    const size_t i = element();
    if (i < n) q[i] = fmaxf(t[i], d[i]);
}

extern "C" __global__ void add_gelu_times(const float* a, const float* b, const float* c, float* p, size_t n) {
    const size_t i = element();
    if (i < n) p[i] = gelu_tanh(a[i] + b[i]) * c[i];
}

extern "C" __global__ void add_gelu_at_least(const float* a, const float* b, const float* d, float* q, size_t n) {
    const size_t i = element();
    if (i < n) q[i] = fmaxf(gelu_tanh(a[i] + b[i]), d[i]);
}

extern "C" __global__ void add_gelu_both(const float* a, const float* b, const float* c, const float* d, float* p, float* q, size_t n) {
    const size_t i = element();
    if (i >= n) return;
    const float t = gelu_tanh(a[i] + b[i]);
    p[i] = t * c[i];
    q[i] = fmaxf(t, d[i]);
}
// ANCHOR_END: consumers

// ANCHOR: keep
extern "C" __global__ void add_gelu_keep(const float* x, const float* r, float* y, float* s, size_t n) {
    const size_t i = element();
    if (i >= n) return;
    const float sum = x[i] + r[i];
    s[i] = sum;
    y[i] = gelu_tanh(sum);
}
// ANCHOR_END: keep
