// Threads of a block hand values to one another through global memory, without a barrier.
// fail: E-RACE-GLOBAL
// launch: rotate<<<1, 64>>>(x: f32[64], scratch: f32[64] zero, y: f32[64] uninit)
extern "C" __global__ void rotate(const float* x, float* scratch, float* y) {
    int t = threadIdx.x;
    scratch[t] = x[t] * x[t];
    y[t] = scratch[(t + 33) % 64];
}
