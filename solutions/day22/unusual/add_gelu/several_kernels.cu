// Three kernels in one module, of which the launch chooses one.
__device__ float gelu(float t) {
    return 0.5f * t * (1.0f + tanhf(0.7978845608f * (t + 0.044715f * t * t * t)));
}

extern "C" __global__ void add(const float* a, const float* b, float* out, size_t n) {
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}

extern "C" __global__ void add_gelu_one(const float* a, const float* b, float* out, size_t n) {
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = gelu(a[i] + b[i]);
}

extern "C" __global__ void add_gelu_two(const float2* a, const float2* b, float2* out, size_t pairs) {
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < pairs) out[i] = make_float2(gelu(a[i].x + b[i].x), gelu(a[i].y + b[i].y));
}
