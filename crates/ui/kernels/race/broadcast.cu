// Thread 0 puts the row's scale into shared memory, and the others use it right away.
// fail: E-RACE-SHARED
// launch: normalise<<<1, 64>>>(x: f32[64], y: f32[64] uninit)
extern "C" __global__ void normalise(const float* x, float* y) {
    __shared__ float scale;
    if (threadIdx.x == 0) scale = 1.0f / x[63];
    y[threadIdx.x] = x[threadIdx.x] * scale;
}
