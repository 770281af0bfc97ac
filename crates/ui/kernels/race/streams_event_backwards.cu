// There is an event, but it makes the producer's stream wait for the consumer's.
// fail: E-RACE-STREAMS
// launch: produce<<<1, 64>>>(x: f32[64], mid: f32[64] zero)
// wait: 1 for 2
// launch: consume<<<1, 64>>>(mid, y: f32[64] uninit) on 2
extern "C" __global__ void produce(const float* x, float* mid) { mid[threadIdx.x] = x[threadIdx.x] + 1.0f; }
extern "C" __global__ void consume(const float* mid, float* y) { y[threadIdx.x] = 2.0f * mid[threadIdx.x]; }
