// A float4 per thread, in blocks of 32.
__device__ float gelu(float t) {
    return 0.5f * t * (1.0f + tanhf(0.7978845608f * (t + 0.044715f * t * t * t)));
}

extern "C" __global__ void add_gelu_vec(const float* a, const float* b, float* out, size_t n) {
    size_t v = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n / 4) {
        float4 p = ((const float4*)a)[v];
        float4 q = ((const float4*)b)[v];
        ((float4*)out)[v] = make_float4(gelu(p.x + q.x), gelu(p.y + q.y), gelu(p.z + q.z), gelu(p.w + q.w));
    }
    if (v == 0) {
        for (size_t i = n / 4 * 4; i < n; i++) {
            out[i] = gelu(a[i] + b[i]);
        }
    }
}
