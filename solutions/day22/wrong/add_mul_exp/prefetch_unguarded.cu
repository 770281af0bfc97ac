// wrong: fault E-OOB-GLOBAL: reads the element of the next round before it knows that there is one.
extern "C" __global__ void add_mul_exp(const float* x, const float* y, float* out, size_t n) {
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t threads = (size_t)gridDim.x * blockDim.x;
    if (thread >= n) return;
    float next = x[thread] + y[thread];
    for (size_t i = thread; i < n; i += threads) {
        float sum = next;
        next = x[i + threads] + y[i + threads];
        out[i] = expf(sum * 2.0f + 0.0f * next);
    }
}
