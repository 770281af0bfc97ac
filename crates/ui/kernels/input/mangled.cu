// A kernel without extern "C", in a namespace.
// fail: E-OOB-GLOBAL
// launch: _ZN7modules5scaleEPKfPf<<<1, 128>>>(x: f32[100], y: f32[128] uninit)
namespace modules {
__global__ void scale(const float* x, float* y) {
    y[threadIdx.x] = 2.0f * x[threadIdx.x];
}
}
