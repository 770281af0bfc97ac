// The PTX has no line tables.
// fail: E-OOB-GLOBAL
// options: no-lineinfo
// launch: scale<<<1, 128>>>(x: f32[100], y: f32[128] uninit)
extern "C" __global__ void scale(const float* x, float* y) {
    y[threadIdx.x] = 2.0f * x[threadIdx.x];
}
