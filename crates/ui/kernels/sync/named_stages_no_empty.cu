// The producer announces the full stages one after the other and never waits: it may complete a round twice over.
// fail: E-BARRIER-ROUNDS, E-DEADLOCK
// launch: stages<<<1, 96>>>(x: f32[256], y: f32[64] uninit)
extern "C" __global__ void stages(const float* x, float* y) {
    __shared__ float tile[8][32];
    int t = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        for (int k = 0; k < 8; k++) {
            tile[k][t] = x[32 * k + t];
            asm volatile("bar.arrive %0, 96;" ::"r"(1 + k % 2) : "memory");
        }
    } else {
        float sum = 0.0f;
        for (int k = 0; k < 8; k++) {
            asm volatile("bar.sync %0, 96;" ::"r"(1 + k % 2) : "memory");
            sum += tile[k][31 - t];
        }
        y[threadIdx.x - 32] = sum;
    }
}
