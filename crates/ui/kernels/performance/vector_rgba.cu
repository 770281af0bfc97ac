// All four at once.
// pass
// near: performance/scalar_rgba
// checks: performance
// launch: grey<<<8, 64>>>(x: f32[2048], y: f32[512] uninit)
extern "C" __global__ void grey(const float* x, float* y) {
    int i = blockIdx.x * 64 + threadIdx.x;
    float4 p = reinterpret_cast<const float4*>(x)[i];
    y[i] = 0.3f * p.x + 0.6f * p.y + 0.1f * p.z + p.w;
}
