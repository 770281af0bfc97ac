extern "C" __global__ void mul(const float* q, const float* k, float* out, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = q[i] * k[i];
}

extern "C" __global__ void add(const float* v, float* out, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = out[i] + v[i];
}
