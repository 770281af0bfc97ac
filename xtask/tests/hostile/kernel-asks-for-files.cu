// contained
// Whether a file is there cannot be seen either.
#if __has_include("/etc/passwd") || __has_include("@SECRET@")
#error it is there
#endif
extern "C" __global__ void mul_add(const float* q, const float* k, const float* v, float* out, size_t n) {
    const size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (size_t i = thread; i < n; i += (size_t)gridDim.x * blockDim.x) {
        out[i] = q[i] * k[i] + v[i];
    }
}
