// A matrix product in f16 with sums in f32, for the emulated device. c = a b, row-major: a is m x k, b is k x n. It stands
// for a library's product: correct, and quickly emulated. There every access to memory is watched, and to shared memory
// for races too, so this one keeps its tile of a in registers, and lanes hand its elements to each other.
#include <cuda_fp16.h>

const int WIDTH = 32; // Columns of c that a warp computes, one a lane, and columns of a that it holds at a time.
const int EACH = 8;   // Rows of c that it computes.

extern "C" __global__ void gemm_f16(const __half* __restrict__ a, const __half* __restrict__ b, __half* __restrict__ c, size_t m,
                                    size_t n, size_t k) {
    const size_t lane = threadIdx.x % WIDTH;
    const size_t first_row = (size_t)blockIdx.y * EACH, column = (size_t)blockIdx.x * blockDim.x + threadIdx.x;

    float sums[EACH] = {};
    for (size_t step = 0; step < k; step += WIDTH) {
        float left[EACH];
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            const size_t row = first_row + i;
            left[i] = row < m && step + lane < k ? __half2float(a[row * k + step + lane]) : 0.0f;
        }
        const int inners = k - step < WIDTH ? k - step : WIDTH;
        for (int inner = 0; inner < inners; inner++) {
            const float right = column < n ? __half2float(b[(step + inner) * n + column]) : 0.0f;
#pragma unroll
            for (int i = 0; i < EACH; i++) sums[i] += __shfl_sync(0xffffffff, left[i], inner) * right;
        }
    }
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        const size_t row = first_row + i;
        if (row < m && column < n) c[row * n + column] = __float2half(sums[i]);
    }
}
