// A block of 32 by 64 threads is more than a block may have.
// fail: E-LAUNCH-BLOCK
// launch: scale<<<1, (32,64)>>>(x: f32[2048], y: f32[2048] uninit)
extern "C" __global__ void scale(const float* x, float* y) {
    int i = threadIdx.y * 32 + threadIdx.x;
    y[i] = 2.0f * x[i];
}
