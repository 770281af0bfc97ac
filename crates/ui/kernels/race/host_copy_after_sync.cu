// The host waits for the device before the synchronous copy.
// pass
// near: race/host_copy_default
// launch: scale<<<1, 64>>>(x: f32[64], y: f32[64] zero)
// sync
// copy: y to host on 0
extern "C" __global__ void scale(const float* x, float* y) { y[threadIdx.x] = 2.0f * x[threadIdx.x]; }
