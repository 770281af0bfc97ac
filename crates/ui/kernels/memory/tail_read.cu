// The last block reads past the end: the grid is rounded up, and nothing guards the tail.
// fail: E-OOB-GLOBAL
// launch: scale<<<4, 32>>>(x: f32[100], y: f32[128] uninit, n: i32 = 100)
extern "C" __global__ void scale(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 2.0f * x[i];
}
