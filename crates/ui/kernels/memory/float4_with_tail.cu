// Four at once, and the rest one by one.
// pass
// near: memory/float4_tail
// launch: scale<<<1, 32>>>(x: f32[102], y: f32[102] uninit, n: i32 = 102)
extern "C" __global__ void scale(const float* x, float* y, int n) {
    int i = threadIdx.x;
    if (4 * i + 3 < n) {
        float4 v = reinterpret_cast<const float4*>(x)[i];
        v.x *= 2.0f; v.y *= 2.0f; v.z *= 2.0f; v.w *= 2.0f;
        reinterpret_cast<float4*>(y)[i] = v;
    } else {
        for (int j = 4 * i; j < n; j++) y[j] = 2.0f * x[j];
    }
}
