// One element of d per thread, whose column of weights it scales one by one.
#include <cuda_bf16.h>

extern "C" __global__ void gemm_dequant(const __nv_bfloat16* a, const signed char* q, const float* scale, __nv_bfloat16* d,
                                        size_t m, size_t n, size_t k) {
    const size_t row = blockIdx.x, column = (size_t)blockIdx.y * 256 + threadIdx.x;
    if (column >= n) return;
    float sum = 0.0f;
    for (size_t i = 0; i < k; i++) {
        const float weight = (float)q[i * n + column] * scale[column];
        sum += __bfloat162float(a[row * k + i]) * weight;
    }
    d[row * n + column] = __float2bfloat16(sum);
}
