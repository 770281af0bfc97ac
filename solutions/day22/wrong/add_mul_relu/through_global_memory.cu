// wrong: bytes: one launch, but the sum and the product still go out to memory and come back.
extern "C" __global__ void add_mul_relu(const float* a, const float* b, float* out, size_t n) {
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t threads = (size_t)gridDim.x * blockDim.x;
    for (size_t i = thread; i < n; i += threads) {
        volatile float* buffer = out;
        buffer[i] = a[i] + b[i];
        buffer[i] = buffer[i] * a[i];
        buffer[i] = fmaxf(buffer[i], 0.0f);
    }
}
