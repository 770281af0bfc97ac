// A stencil whose first thread reads the element before the first.
// fail: E-OOB-GLOBAL
// launch: blur<<<1, 128>>>(x: f32[128], y: f32[128] uninit, n: i32 = 128)
extern "C" __global__ void blur(const float* x, float* y, int n) {
    int i = threadIdx.x;
    if (i + 1 < n) y[i] = (x[i - 1] + x[i] + x[i + 1]) / 3.0f;
}
