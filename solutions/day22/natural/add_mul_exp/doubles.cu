// exp of a double.
extern "C" __global__ void add_mul_exp(const float* x, const float* y, float* out, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = exp((x[i] + y[i]) * 2.0);
    }
}
