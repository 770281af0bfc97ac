// The next input is copied over this one while the kernel may still read it.
// fail: E-RACE-HOST
// launch: scale<<<1, 64>>>(x: f32[64], y: f32[64] uninit)
// copy: host to x on 2
extern "C" __global__ void scale(const float* x, float* y) { y[threadIdx.x] = 2.0f * x[threadIdx.x]; }
