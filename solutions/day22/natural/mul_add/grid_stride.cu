// A loop with the stride of the grid, and 4,096 blocks.
extern "C" __global__ void mul_add(const float* q, const float* k, const float* v, float* out, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (; i < n; i += (size_t)gridDim.x * blockDim.x) {
        out[i] = fmaf(q[i], k[i], v[i]);
    }
}
