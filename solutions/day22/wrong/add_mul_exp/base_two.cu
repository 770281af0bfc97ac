// wrong: values: raises 2 instead of e to the power.
extern "C" __global__ void add_mul_exp(const float* x, const float* y, float* out, size_t n) {
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t threads = (size_t)gridDim.x * blockDim.x;
    for (size_t i = thread; i < n; i += threads) {
        out[i] = exp2f((x[i] + y[i]) * 2.0f);
    }
}
