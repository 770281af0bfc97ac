// On the kernel's own stream.
// pass
// near: race/host_copy
// launch: scale<<<1, 64>>>(x: f32[64], y: f32[64] zero)
// copy: y to host
extern "C" __global__ void scale(const float* x, float* y) { y[threadIdx.x] = 2.0f * x[threadIdx.x]; }
