// A bulk copy is waited for at its mbarrier.
// pass
// near: cluster/bulk_not_waited
// launch: k<<<1, 64>>>(x: f32[64], y: f32[64] uninit)
extern "C" __global__ void k(const float* x, float* y) {
    __shared__ alignas(16) float s[64];
    __shared__ unsigned long long bar;
    unsigned b = (unsigned)__cvta_generic_to_shared(&bar), to = (unsigned)__cvta_generic_to_shared(s);
    int t = threadIdx.x;
    if (t == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(b) : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" :: "r"(b) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];"
                     :: "r"(to), "l"(__cvta_generic_to_global(x)), "r"(b) : "memory");
    }
    __syncthreads();
    int done = 0;
    while (!done) {
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.shared::cta.b64 p, [%1], 0; selp.b32 %0, 1, 0, p; }"
             : "=r"(done) : "r"(b) : "memory");
    }
    y[t] = s[63 - t];
}
