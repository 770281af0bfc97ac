// The mistake stands in a header, in a function that is inlined.
// fail: E-OOB-GLOBAL
// header: scale.cuh
// launch: scale<<<1, 128>>>(x: f32[128], y: f32[128] uninit)
#include "scale.cuh"
extern "C" __global__ void scale(const float* x, float* y) {
    y[threadIdx.x] = scaled(x, threadIdx.x, 2.0f);
}
