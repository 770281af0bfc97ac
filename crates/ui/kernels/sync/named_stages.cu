// One producer warp, two consumers, two stages with a full and an empty barrier each: the last to come to a round is told by the
// other barrier of its stage. The consumers announce both stages as empty to begin with.
// pass
// near: sync/named_stages_no_empty
// launch: stages<<<1, 96>>>(x: f32[256], y: f32[64] uninit)
extern "C" __global__ void stages(const float* x, float* y) {
    __shared__ float tile[2][32];
    int t = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        for (int k = 0; k < 8; k++) {
            asm volatile("bar.sync %0, 96;" ::"r"(3 + k % 2) : "memory");
            tile[k % 2][t] = x[32 * k + t];
            asm volatile("bar.arrive %0, 96;" ::"r"(1 + k % 2) : "memory");
        }
    } else {
        float sum = 0.0f;
        asm volatile("bar.arrive 3, 96;" ::: "memory");
        asm volatile("bar.arrive 4, 96;" ::: "memory");
        for (int k = 0; k < 8; k++) {
            asm volatile("bar.sync %0, 96;" ::"r"(1 + k % 2) : "memory");
            sum += tile[k % 2][31 - t];
            if (k < 6) asm volatile("bar.arrive %0, 96;" ::"r"(3 + k % 2) : "memory");
        }
        y[threadIdx.x - 32] = sum;
    }
}
