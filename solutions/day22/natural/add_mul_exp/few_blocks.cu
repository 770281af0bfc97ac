// A loop with the stride of the grid, and 264 blocks: two per multiprocessor of an H200.
extern "C" __global__ void add_mul_exp(const float* x, const float* y, float* out, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (; i < n; i += (size_t)gridDim.x * blockDim.x) {
        out[i] = expf((x[i] + y[i]) * 2.0f);
    }
}
