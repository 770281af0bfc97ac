// One launch, and the sum stays in a register.
// pass
// near: performance/round_trip
// checks: performance
// launch: add_relu<<<64, 128>>>(a: f32[8192], b: f32[8192], y: f32[8192] uninit)
extern "C" __global__ void add_relu(const float* a, const float* b, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = fmaxf(a[i] + b[i], 0.0f);
}
