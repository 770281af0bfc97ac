// wrong: tail: whole groups of four only: the last n % 4 elements are never written.
extern "C" __global__ void add_mul_relu(const float* a, const float* b, float* out, size_t n) {
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t threads = (size_t)gridDim.x * blockDim.x;
    for (size_t i = thread; i < n / 4 * 4; i += threads) {
        float t = a[i];
        out[i] = fmaxf((t + b[i]) * t, 0.0f);
    }
}
