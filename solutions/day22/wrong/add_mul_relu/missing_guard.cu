// wrong: fault E-OOB-GLOBAL: no guard: threads past the end read and write past the end.
extern "C" __global__ void add_mul_relu(const float* a, const float* b, float* out, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = fmaxf((a[i] + b[i]) * a[i], 0.0f);
}
