// Blocks of 32 threads, each of which has eight elements.
__device__ float gelu(float t) {
    return 0.5f * t * (1.0f + tanhf(0.7978845608f * (t + 0.044715f * t * t * t)));
}

extern "C" __global__ void __launch_bounds__(32, 16) add_gelu(const float* a, const float* b, float* out, size_t n) {
    const size_t first = (size_t)blockIdx.x * 256 + threadIdx.x;
#pragma unroll
    for (int j = 0; j < 8; j++) {
        const size_t i = first + 32 * j;
        if (i < n) out[i] = gelu(__ldg(a + i) + __ldg(b + i));
    }
}
