// A warp per row, eight of them in a block, and the residual is read again.
#include <cuda_bf16.h>

__device__ float add_up(float value) {
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(0xffffffff, value, offset);
    }
    return value;
}

extern "C" __global__ void add_rmsnorm(const __nv_bfloat16* x, const __nv_bfloat16* weight, __nv_bfloat16* residual, __nv_bfloat16* out, size_t rows, size_t columns) {
    size_t r = (size_t)blockIdx.x * 8 + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (r >= rows) {
        return;
    }
    const size_t start = r * columns;
    float sum = 0.0f;
    for (size_t c = lane; c < columns; c += 32) {
        residual[start + c] = __float2bfloat16(__bfloat162float(residual[start + c]) + __bfloat162float(x[start + c]));
        float value = __bfloat162float(residual[start + c]);
        sum += value * value;
    }
    float root = sqrtf(add_up(sum) / columns + 1e-6f);
    for (size_t c = lane; c < columns; c += 32) {
        out[start + c] = __float2bfloat16(__bfloat162float(residual[start + c]) / root * __bfloat162float(weight[c]));
    }
}
