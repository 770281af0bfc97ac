#include <cuda_fp16.h>

extern "C" __global__ void rmsnorm_short_rows(const __half* x, const __half* weight, __half* out, size_t rows, size_t columns) {
    const size_t row = (size_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= rows) return;
    x += row * columns;
    out += row * columns;
    __half sum = 0.0f;
    for (int i = threadIdx.x % 32; i < columns; i += 32) sum = __hadd(sum, __hmul(x[i], x[i]));
    for (int distance = 16; distance > 0; distance /= 2) sum = __hadd(sum, __shfl_xor_sync(0xffffffff, sum, distance));
    const float factor = rsqrtf(__half2float(sum) / columns + 1e-6f);
    for (int i = threadIdx.x % 32; i < columns; i += 32) {
        out[i] = __float2half(__half2float(x[i]) * factor * __half2float(weight[i]));
    }
}
