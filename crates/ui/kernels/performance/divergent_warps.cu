// Whole warps take the one or the other.
// pass
// near: performance/divergent_parity
// checks: performance
// launch: two<<<8, 64>>>(x: f32[512], y: f32[512] uninit, n: i32 = 64)
extern "C" __global__ void two(const float* x, float* y, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    float v = x[i];
    if (i / 32 % 2) {
        for (int k = 0; k < n; k++) v = __fdividef(v, 3.0f) + 1.0f;
    } else {
        for (int k = 0; k < n; k++) v = v * 0.5f + 2.0f;
    }
    y[i] = v;
}
