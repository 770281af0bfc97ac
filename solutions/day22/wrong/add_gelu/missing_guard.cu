// wrong: fault E-OOB-GLOBAL: four elements a thread without a guard: the last threads read and write past the end.
__device__ float gelu(float t) {
    return 0.5f * t * (1.0f + tanhf(0.7978845608f * (t + 0.044715f * t * t * t)));
}

extern "C" __global__ void add_gelu(const float* a, const float* b, float* out, size_t n) {
    size_t first = 4 * ((size_t)blockIdx.x * blockDim.x + threadIdx.x);
    for (size_t i = first; i < first + 4; i++) out[i] = gelu(a[i] + b[i]);
}
