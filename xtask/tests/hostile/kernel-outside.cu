// refused: fault; honest: refused: fault
// Writes past its buffers.
extern "C" __global__ void mul_add(const float* q, const float* k, const float* v, float* out, size_t n) {
    const size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (size_t i = thread; i < n; i += (size_t)gridDim.x * blockDim.x) {
        out[i] = q[i] * k[i] + v[i];
    }
    if (thread == 0 && n > 0) out[n] = 1;
}
