// Neighbouring threads read neighbouring elements.
// pass
// near: performance/column
// checks: performance
// launch: scale<<<32, 32>>>(x: f32[1024], y: f32[1024] uninit)
extern "C" __global__ void scale(const float* x, float* y) {
    int row = blockIdx.x, col = threadIdx.x;
    y[row * 32 + col] = 2.0f * x[row * 32 + col];
}
