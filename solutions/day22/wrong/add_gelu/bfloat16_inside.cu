// wrong: values: rounds the sum to bf16 on the way: 8 bits of precision are left.
#include <cuda_bf16.h>

__device__ float gelu(float t) {
    return 0.5f * t * (1.0f + tanhf(0.7978845608f * (t + 0.044715f * t * t * t)));
}

extern "C" __global__ void add_gelu(const float* a, const float* b, float* out, size_t n) {
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t threads = (size_t)gridDim.x * blockDim.x;
    for (size_t i = thread; i < n; i += threads) {
        float t = __bfloat162float(__float2bfloat16(a[i] + b[i]));
        out[i] = gelu(t);
    }
}
