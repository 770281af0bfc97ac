// It is looked at until the phase is complete.
// pass
// near: race/mbarrier_one_look
// launch: k<<<2, 64>>>(x: f32[128], y: f32[128] uninit)
extern "C" __global__ void k(const float* x, float* y) {
    __shared__ float s[64];
    __shared__ unsigned long long bar;
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    unsigned b = (unsigned)__cvta_generic_to_shared(&bar);
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(b), "r"(64) : "memory");
    __syncthreads();
    s[t] = x[i];
    unsigned long long token;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(b) : "memory");
    int ok = 0;
    while (!ok) asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.s32 %0, 1, 0, p; }" : "=r"(ok) : "r"(b), "l"(token) : "memory");
    y[i] = s[63 - t];
}
