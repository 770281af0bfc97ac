// A grid of three dimensions.
extern "C" __global__ void mul_add(const float* q, const float* k, const float* v, float* out, size_t n) {
    const size_t block = ((size_t)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    const size_t i = block * blockDim.x + threadIdx.x;
    if (i < n) out[i] = fmaf(q[i], k[i], v[i]);
}
