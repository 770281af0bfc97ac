#include <cuda_fp16.h>

extern "C" __global__ void rmsnorm_short_rows(const __half* x, const __half* weight, __half* out, size_t rows, size_t columns) {
    const size_t row = blockIdx.x;
    x += row * columns;
    out += row * columns;
    __shared__ float of_warp[8];
    float sum = 0.0f;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += __half2float(x[i]) * __half2float(x[i]);
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffff, sum, distance);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0.0f;
    for (int warp = 0; warp < 8; warp++) sum += of_warp[warp];
    const float factor = rsqrtf(sum / columns + 1e-6f);
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        out[i] = __float2half(__half2float(x[i]) * factor * __half2float(weight[i]));
    }
}
