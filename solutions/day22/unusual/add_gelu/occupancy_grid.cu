// A loop over the grid, which is as large as the device has room for.
__device__ float gelu(float t) {
    return 0.5f * t * (1.0f + tanhf(0.7978845608f * (t + 0.044715f * t * t * t)));
}

extern "C" __global__ void add_gelu(const float* a, const float* b, float* out, size_t n) {
    const size_t threads = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) out[i] = gelu(a[i] + b[i]);
}
