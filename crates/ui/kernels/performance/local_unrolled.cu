// Indices that the compiler knows stay in registers.
// pass
// near: performance/local_array
// checks: performance
// launch: rotate<<<8, 64>>>(x: f32[4096], y: f32[512] uninit, by: i32 = 3)
extern "C" __global__ void rotate(const float* x, float* y, int by) {
    int i = blockIdx.x * 64 + threadIdx.x;
    float mine[8], sum = 0.0f;
    for (int k = 0; k < 8; k++) mine[k] = x[512 * k + i];
    for (int k = 0; k < 8; k++) sum += k == by || k == (by + 1) % 8 ? mine[k] : 0.0f;
    y[i] = sum;
}
