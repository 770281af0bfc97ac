// A thread writes a value and reads it back through the read-only path.
// fail: E-NC-WRITTEN
// launch: twice<<<1, 64>>>(x: f32[64], y: f32[64] uninit)
extern "C" __global__ void twice(float* x, float* y) {
    int t = threadIdx.x;
    x[t] *= 2.0f;
    y[t] = __ldg(&x[t]);
}
