// wrong: inputs: keeps the sum in b, which belongs to the caller.
extern "C" __global__ void add_mul_relu(const float* a, const float* b, float* out, size_t n) {
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t threads = (size_t)gridDim.x * blockDim.x;
    for (size_t i = thread; i < n; i += threads) {
        float* sum = (float*)b;
        sum[i] = a[i] + b[i];
        out[i] = fmaxf(sum[i] * a[i], 0.0f);
    }
}
