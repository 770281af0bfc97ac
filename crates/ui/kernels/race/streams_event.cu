// An event between the two.
// pass
// near: race/streams
// launch: produce<<<1, 64>>>(x: f32[64], mid: f32[64] zero)
// wait: 2 for 1
// launch: consume<<<1, 64>>>(mid, y: f32[64] uninit) on 2
extern "C" __global__ void produce(const float* x, float* mid) { mid[threadIdx.x] = x[threadIdx.x] + 1.0f; }
extern "C" __global__ void consume(const float* mid, float* y) { y[threadIdx.x] = 2.0f * mid[threadIdx.x]; }
