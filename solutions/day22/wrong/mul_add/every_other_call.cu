// wrong: unwritten: launches at every other call only, and leaves the output of the others as it was.
extern "C" __global__ void mul_add(const float* q, const float* k, const float* v, float* out, size_t n) {
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t threads = (size_t)gridDim.x * blockDim.x;
    for (size_t i = thread; i < n; i += threads) {
        out[i] = q[i] * k[i] + v[i];
    }
}
