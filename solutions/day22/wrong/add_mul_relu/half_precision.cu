// wrong: values: computes in f16 what is to be computed in f32.
#include <cuda_fp16.h>

extern "C" __global__ void add_mul_relu(const float* a, const float* b, float* out, size_t n) {
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t threads = (size_t)gridDim.x * blockDim.x;
    for (size_t i = thread; i < n; i += threads) {
        __half t = __float2half(a[i]);
        __half product = __hmul(__hadd(t, __float2half(b[i])), t);
        out[i] = fmaxf(__half2float(product), 0.0f);
    }
}
