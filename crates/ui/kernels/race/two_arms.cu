// One side of a branch writes what the other reads: neither can come behind the other in one thread.
// fail: E-RACE-SHARED
// launch: pass_on<<<1, 64>>>(x: f32[64], y: f32[64] zero)
extern "C" __global__ void pass_on(const float* x, float* y) {
    __shared__ float kept[64];
    kept[threadIdx.x] = 0.0f;
    __syncthreads();
    if (threadIdx.x < 32) kept[threadIdx.x] = x[threadIdx.x];
    else y[threadIdx.x] = kept[threadIdx.x - 32];
}
