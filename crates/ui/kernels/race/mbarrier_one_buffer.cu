// One mbarrier says that all have written. Nothing says that all have read before the next round writes.
// fail: E-RACE-SHARED
// launch: k<<<2, 64>>>(x: f32[128], y: f32[128] uninit)
extern "C" __global__ void k(const float* x, float* y) {
    __shared__ float s[64];
    __shared__ unsigned long long bar;
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    unsigned b = (unsigned)__cvta_generic_to_shared(&bar);
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(b), "r"(64) : "memory");
    __syncthreads();
    float v = x[i];
    for (int r = 0; r < 6; r++) {
        s[t] = v;
        asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(b) : "memory");
        int ok = 0;
        while (!ok) asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.s32 %0, 1, 0, p; }" : "=r"(ok) : "r"(b), "r"(r & 1) : "memory");
        v = s[63 - t] + 1;
    }
    y[i] = v;
}
