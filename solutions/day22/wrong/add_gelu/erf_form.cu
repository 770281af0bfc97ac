// wrong: values: the erf form of GELU, which differs from the tanh form in the fourth digit.
extern "C" __global__ void add_gelu(const float* a, const float* b, float* out, size_t n) {
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t threads = (size_t)gridDim.x * blockDim.x;
    for (size_t i = thread; i < n; i += threads) {
        float t = a[i] + b[i];
        out[i] = 0.5f * t * (1.0f + erff(t * 0.7071067812f));
    }
}
