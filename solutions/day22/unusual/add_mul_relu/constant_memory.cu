// Factors in constant memory.
__constant__ float factors[2] = {1.0f, 0.0f};

extern "C" __global__ void add_mul_relu(const float* a, const float* b, float* out, size_t n) {
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = fmaxf((factors[0] * a[i] + b[i]) * a[i], factors[1]);
}
