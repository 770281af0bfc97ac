// A thread reads the four channels of its pixel one by one.
// fail: P-SCALAR-ACCESS
// checks: performance
// launch: grey<<<8, 64>>>(x: f32[2048], y: f32[512] uninit)
extern "C" __global__ void grey(const float* x, float* y) {
    int i = blockIdx.x * 64 + threadIdx.x;
    y[i] = 0.3f * x[4 * i] + 0.6f * x[4 * i + 1] + 0.1f * x[4 * i + 2] + x[4 * i + 3];
}
