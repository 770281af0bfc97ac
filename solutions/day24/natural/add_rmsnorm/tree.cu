// A block of 256 per row, a tree in shared memory, and the residual is read again.
#include <cuda_bf16.h>

extern "C" __global__ void add_rmsnorm(const __nv_bfloat16* x, const __nv_bfloat16* weight, __nv_bfloat16* residual, __nv_bfloat16* out, size_t rows, size_t columns) {
    __shared__ float sums[256];
    const int t = threadIdx.x;
    const size_t start = blockIdx.x * columns;

    float sum = 0.0f;
    for (size_t c = t; c < columns; c += blockDim.x) {
        residual[start + c] = __float2bfloat16(__bfloat162float(residual[start + c]) + __bfloat162float(x[start + c]));
        float r = __bfloat162float(residual[start + c]);
        sum += r * r;
    }
    sums[t] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) {
            sums[t] += sums[t + half];
        }
        __syncthreads();
    }

    for (size_t c = t; c < columns; c += blockDim.x) {
        float root = sqrtf(sums[0] / columns + 1e-6f);
        out[start + c] = __float2bfloat16(__bfloat162float(residual[start + c]) / root * __bfloat162float(weight[c]));
    }
}
