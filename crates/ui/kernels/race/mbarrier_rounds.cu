// Two buffers and one mbarrier: whoever writes a buffer again has waited since all have read it.
// pass
// near: race/mbarrier_one_buffer
// launch: k<<<2, 64>>>(x: f32[128], y: f32[128] uninit)
extern "C" __global__ void k(const float* x, float* y) {
    __shared__ float s[2][64];
    __shared__ unsigned long long bar;
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    unsigned b = (unsigned)__cvta_generic_to_shared(&bar);
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(b), "r"(64) : "memory");
    __syncthreads();
    float v = x[i];
    for (int r = 0; r < 6; r++) {
        s[r & 1][t] = v;
        asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(b) : "memory");
        int ok = 0;
        while (!ok) asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.s32 %0, 1, 0, p; }" : "=r"(ok) : "r"(b), "r"(r & 1) : "memory");
        v = s[r & 1][63 - t] + 1;
    }
    y[i] = v;
}
