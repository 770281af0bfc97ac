// The producer never waits until the buffer has been read.
// fail: E-RACE-SHARED
// launch: pairs<<<1, 64>>>(x: f32[128], y: f32[32] uninit)
extern "C" __global__ void pairs(const float* x, float* y) {
    __shared__ float tile[32];
    int t = threadIdx.x % 32;
    float sum = 0.0f;
    for (int k = 0; k < 4; k++) {
        if (threadIdx.x < 32) {
            tile[t] = x[32 * k + t];
            asm volatile("bar.sync 1, 64;" ::: "memory");
        } else {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            sum += tile[31 - t];
        }
    }
    if (threadIdx.x >= 32) y[t] = sum;
}
