// max((a + b) * a, 0), four elements per thread. The last of them is computed from the third of a.

__device__ float one(float a, float b) {
    return fmaxf((a + b) * a, 0.0f);
}

extern "C" __global__ void add_mul_relu(const float* a, const float* b, float* out, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i + 3 < n) {
        float4 a4 = ((const float4*)a)[i], b4 = ((const float4*)b)[i];
        ((float4*)out)[i] = make_float4(one(a4.x, b4.x), one(a4.y, b4.y), one(a4.z, b4.z), one(a4.z, b4.w));
    } else {
        for (size_t rest = 4 * i; rest < n; rest++) {
            out[rest] = one(a[rest], b[rest]);
        }
    }
}
