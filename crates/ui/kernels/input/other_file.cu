// A generated file says that its lines come from another, which is not there.
// fail: E-OOB-GLOBAL
// launch: scale<<<1, 128>>>(x: f32[100], y: f32[128] uninit)
extern "C" __global__ void scale(const float* x, float* y) {
#line 40 "template.cu.in"
    y[threadIdx.x] = 2.0f * x[threadIdx.x];
}
