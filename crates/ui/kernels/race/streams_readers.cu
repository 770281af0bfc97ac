// Two kernels on two streams read the same input.
// pass
// near: race/streams
// launch: scale<<<1, 64>>>(x: f32[64], y: f32[64] uninit)
// launch: scale<<<1, 64>>>(x, z: f32[64] uninit) on 2
extern "C" __global__ void scale(const float* x, float* y) { y[threadIdx.x] = 2.0f * x[threadIdx.x]; }
