// Constants without an f make all of it double.
extern "C" __global__ void add_gelu(const float* a, const float* b, float* out, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float t = a[i] + b[i];
        out[i] = 0.5 * t * (1.0 + tanh(0.7978845608 * (t + 0.044715 * t * t * t)));
    }
}
