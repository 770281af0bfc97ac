// A warp per row, eight of them in a block; the row is read three times.
#include <cuda_bf16.h>
#include <cuda_fp8.h>

extern "C" __global__ void rmsnorm_fp8(const __nv_bfloat16* x, const __nv_bfloat16* weight, __nv_fp8_e4m3* q, float* scale, size_t rows, size_t columns) {
    size_t r = (size_t)blockIdx.x * 8 + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (r >= rows) {
        return;
    }
    const __nv_bfloat16* row = x + r * columns;
    float sum = 0.0f;
    for (size_t c = lane; c < columns; c += 32) {
        float v = __bfloat162float(row[c]);
        sum += v * v;
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, offset);
    }
    float root = sqrtf(sum / columns + 1e-6f);
    float largest = 0.0f;
    for (size_t c = lane; c < columns; c += 32) {
        largest = fmaxf(largest, fabsf(__bfloat162float(row[c]) / root * __bfloat162float(weight[c])));
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, offset));
    }
    float s = largest / 448.0f;
    if (lane == 0) {
        scale[r] = s;
    }
    for (size_t c = lane; c < columns; c += 32) {
        float y = __bfloat162float(row[c]) / root * __bfloat162float(weight[c]);
        q[r * columns + c] = s == 0.0f ? __nv_fp8_e4m3(0.0f) : __nv_fp8_e4m3(y / s);
    }
}
