// One sum per thread, from tiles of 32 x 32 elements in shared memory, without tensor cores.
#include <cuda_bf16.h>
#include "activation.cuh"

extern "C" __global__ void gemm_bias_gelu(const __nv_bfloat16* a, const __nv_bfloat16* b, const __nv_bfloat16* bias,
                                          const __nv_bfloat16* residual, __nv_bfloat16* d, size_t m, size_t n, size_t k) {
    __shared__ float tile_a[32][32], tile_b[32][32];
    const int x = threadIdx.x, y = threadIdx.y;
    const size_t row = (size_t)blockIdx.x * 32 + y, column = (size_t)blockIdx.y * 32 + x;
    float sum = 0.0f;
    for (size_t step = 0; step < k; step += 32) {
        tile_a[y][x] = row < m && step + x < k ? __bfloat162float(a[row * k + step + x]) : 0.0f;
        tile_b[y][x] = step + y < k && column < n ? __bfloat162float(b[(step + y) * n + column]) : 0.0f;
        __syncthreads();
        for (int i = 0; i < 32; i++) sum += tile_a[y][i] * tile_b[i][x];
        __syncthreads();
    }
    if (row >= m || column >= n) return;
    const float activated = gelu_tanh(sum + __bfloat162float(bias[column]));
    d[row * n + column] = __float2bfloat16(activated + __bfloat162float(residual[row * n + column]));
}
