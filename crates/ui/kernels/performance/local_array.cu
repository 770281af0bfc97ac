// An array that is indexed at run time lives in memory, not in registers.
// fail: P-LOCAL-MEMORY
// checks: performance
// launch: rotate<<<8, 64>>>(x: f32[4096], y: f32[512] uninit, by: i32 = 3)
extern "C" __global__ void rotate(const float* x, float* y, int by) {
    int i = blockIdx.x * 64 + threadIdx.x;
    float mine[8];
    for (int k = 0; k < 8; k++) mine[k] = x[512 * k + i];
    y[i] = mine[by] + mine[(by + 1) % 8];
}
