// Neighbouring threads read neighbouring rows: every lane gets a sector of its own.
// fail: P-UNCOALESCED
// checks: performance
// launch: scale<<<32, 32>>>(x: f32[1024], y: f32[1024] uninit)
extern "C" __global__ void scale(const float* x, float* y) {
    int row = threadIdx.x, col = blockIdx.x;
    y[col * 32 + row] = 2.0f * x[row * 32 + col];
}
