// wrong: values: t * sigmoid(1.702 t), a cheaper approximation of another function.
extern "C" __global__ void add_gelu(const float* a, const float* b, float* out, size_t n) {
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t threads = (size_t)gridDim.x * blockDim.x;
    for (size_t i = thread; i < n; i += threads) {
        float t = a[i] + b[i];
        out[i] = t / (1.0f + expf(-1.702f * t));
    }
}
