// Even and odd lanes take turns at two loops.
// fail: P-DIVERGENT
// checks: performance
// launch: two<<<8, 64>>>(x: f32[512], y: f32[512] uninit, n: i32 = 64)
extern "C" __global__ void two(const float* x, float* y, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    float v = x[i];
    if (i % 2) {
        for (int k = 0; k < n; k++) v = sinf(v) + 1.0f;
    } else {
        for (int k = 0; k < n; k++) v = cosf(v) * 0.5f;
    }
    y[i] = v;
}
