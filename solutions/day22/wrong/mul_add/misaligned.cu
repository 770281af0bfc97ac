// wrong: fault E-MISALIGNED: peels one element, so that every float4 starts four bytes past a multiple of 16.
extern "C" __global__ void mul_add(const float* q, const float* k, const float* v, float* out, size_t n) {
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t threads = (size_t)gridDim.x * blockDim.x;
    if (thread == 0) out[0] = q[0] * k[0] + v[0];
    size_t vectors = (n - 1) / 4;
    for (size_t i = thread; i < vectors; i += threads) {
        float4 a = ((const float4*)(q + 1))[i], b = ((const float4*)(k + 1))[i], c = ((const float4*)(v + 1))[i];
        ((float4*)(out + 1))[i] = make_float4(a.x * b.x + c.x, a.y * b.y + c.y, a.z * b.z + c.z, a.w * b.w + c.w);
    }
    for (size_t i = 1 + 4 * vectors + thread; i < n; i += threads) out[i] = q[i] * k[i] + v[i];
}
