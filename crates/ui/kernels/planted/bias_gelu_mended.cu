// pass
// near: planted/bias_gelu
// launch: bias_gelu<<<4, 256>>>(x: f32[1000], bias: f32[100], y: f32[1000] uninit, n: i32 = 1000, columns: i32 = 100)
// GELU of `x` plus a bias that is the same for every row of `columns` elements.
// Threads past the end leave before they read.
extern "C" __global__ void bias_gelu(const float* x, const float* bias, float* y, int n, int columns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float t = x[i] + bias[i % columns];
    float gelu = 0.5f * t * (1.0f + erff(t * 0.70710678f));
    y[i] = gelu;
}
