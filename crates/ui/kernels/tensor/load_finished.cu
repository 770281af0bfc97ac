// One box more is loaded than is used, and one thread waits for it; by then the others have ended.
// pass
// near: tensor/load_unfinished
// launch: k<<<1, 64>>>(m: tensor x f32 32x16 box 16x8, x: f32[512], y: f32[64] uninit)
struct alignas(64) Map { unsigned long long words[16]; };
__device__ void load(const Map& m, int row, float* s, unsigned bar) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 512;" :: "r"(bar) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%2, %3}], [%4];"
                 :: "r"((unsigned)__cvta_generic_to_shared(s)), "l"(&m), "r"(0), "r"(row), "r"(bar) : "memory");
}
__device__ void wait(unsigned bar, int parity) {
    for (int done = 0; !done;) {
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(bar), "r"(parity) : "memory");
    }
}
extern "C" __global__ void k(const __grid_constant__ Map m, const float* x, float* y) {
    __shared__ alignas(128) float s[2][128];
    __shared__ unsigned long long bars[2];
    unsigned bar = (unsigned)__cvta_generic_to_shared(bars);
    int t = threadIdx.x;
    if (t == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(bar) : "memory");
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(bar + 8) : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
    if (t == 0) load(m, 0, s[0], bar);
    if (t == 0) load(m, 8, s[1], bar + 8);
    wait(bar, 0);
    y[t] = s[0][t];
    if (t == 40) wait(bar + 8, 0);
}
