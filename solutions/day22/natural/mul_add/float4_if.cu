// A float4 per thread in blocks of 128, and an if for what is left.
extern "C" __global__ void mul_add(const float* q, const float* k, const float* v, float* out, size_t n) {
    size_t first = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (first + 3 < n) {
        float4 a = *(const float4*)(q + first);
        float4 b = *(const float4*)(k + first);
        float4 c = *(const float4*)(v + first);
        *(float4*)(out + first) = make_float4(a.x * b.x + c.x, a.y * b.y + c.y, a.z * b.z + c.z, a.w * b.w + c.w);
    } else {
        for (size_t i = first; i < n; i++) {
            out[i] = q[i] * k[i] + v[i];
        }
    }
}
