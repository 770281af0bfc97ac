// pass
// near: planted/softmax
// launch: softmax<<<8, 256>>>(x: f32[8192], y: f32[8192] uninit, columns: i32 = 1024)
// Softmax of rows: one block a row. The maximum is taken away first, so that no power overflows.
// The array is free for the next reduction when all have read the result.
#include <math_constants.h>

__device__ float reduce(float* partial, float mine, bool largest) {
    partial[threadIdx.x] = mine;
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) {
            float other = partial[threadIdx.x + step];
            partial[threadIdx.x] = largest ? fmaxf(partial[threadIdx.x], other) : partial[threadIdx.x] + other;
        }
        __syncthreads();
    }
    float result = partial[0];
    __syncthreads();
    return result;
}

extern "C" __global__ void softmax(const float* x, float* y, int columns) {
    __shared__ float partial[256];
    const float* row = x + (size_t)blockIdx.x * columns;
    float* out = y + (size_t)blockIdx.x * columns;

    float largest = -CUDART_INF_F;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) largest = fmaxf(largest, row[c]);
    largest = reduce(partial, largest, true);

    float sum = 0.0f;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += expf(row[c] - largest);
    sum = reduce(partial, sum, false);

    for (int c = threadIdx.x; c < columns; c += blockDim.x) out[c] = expf(row[c] - largest) / sum;
}
