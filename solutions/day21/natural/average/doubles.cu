// A double by accident: 2.0 is one, and so is what it divides.
extern "C" __global__ void average(const float* x, const float* y, float* out, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = (x[i] + y[i]) / 2.0;
    }
}
