// The launch that reads through the read-only path begins when the one that wrote has ended.
// pass
// near: race/ldg_grid_phases
// launch: write<<<4, 64>>>(x: f32[256])
// launch: read<<<4, 64>>>(x, y: f32[256] uninit)
extern "C" __global__ void write(float* x) {
    x[blockIdx.x * blockDim.x + threadIdx.x] += 1.0f;
}
extern "C" __global__ void read(const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = __ldg(&x[255 - i]);
}
