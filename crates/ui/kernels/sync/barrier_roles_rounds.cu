// Warps in two roles that come to named barriers of their own, each as often as it needs; the stores behind are common.
// pass
// near: sync/barrier_whole_warp_loop
// launch: roles<<<1, 128>>>(x: f32[128], y: f32[128] uninit)
extern "C" __global__ void roles(const float* x, float* y) {
    __shared__ float tile[128];
    int t = threadIdx.x, half = t / 64;
    float sum = 0.0f;
    for (int k = 0; k < 2 + half; k++) {
        tile[t] = x[t] + k;
        asm volatile("bar.sync %0, 64;" ::"r"(1 + half) : "memory");
        sum += tile[t ^ 1];
        asm volatile("bar.sync %0, 64;" ::"r"(1 + half) : "memory");
    }
    y[t] = sum;
}
