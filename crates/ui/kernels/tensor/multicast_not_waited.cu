// One block copies a box to both of its cluster, and the other one does not wait for it.
// fail: E-RACE-CLUSTER
// launch: k<<<2, 64>>>(m: tensor x f32 32x16 box 16x8, x: f32[512], y: f32[128] uninit)
struct alignas(64) Map { unsigned long long words[16]; };
extern "C" __global__ void __cluster_dims__(2) k(const __grid_constant__ Map m, const float* x, float* y) {
    __shared__ alignas(128) float s[128];
    __shared__ unsigned long long bar;
    unsigned b = (unsigned)__cvta_generic_to_shared(&bar), to = (unsigned)__cvta_generic_to_shared(s);
    unsigned rank, t = threadIdx.x;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (t == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(b) : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 512;" :: "r"(b) : "memory");
    }
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
    if (t == 0 && rank == 0) {
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
                     " [%0], [%1, {%2, %3}], [%4], %5;"
                     :: "r"(to), "l"(&m), "r"(0), "r"(0), "r"(b), "h"((short)3) : "memory");
    }
    if (rank == 0) {
        for (int done = 0; !done;) {
            asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.shared::cta.b64 p, [%1], %2;"
                         " selp.b32 %0, 1, 0, p; }"
                         : "=r"(done) : "r"(b), "r"(0) : "memory");
        }
    }
    y[64 * rank + t] = s[127 - t];
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}
