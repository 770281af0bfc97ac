// A block's addresses have its rank from bit 24 on: rank 1 reads its own words by them, and those of rank 0 without it.
// pass
// near: cluster/own_by_cta
// launch: k<<<4, 32>>>(x: i32[128], y: i32[128] uninit)
extern "C" __global__ void __cluster_dims__(2) k(const int* x, int* y) {
    __shared__ int s[32];
    int t = threadIdx.x, i = blockIdx.x * 32 + t, own, first;
    s[t] = x[i];
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
    unsigned at = (unsigned)__cvta_generic_to_shared(&s[t]);
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(own) : "r"(at) : "memory");
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(first) : "r"(at & 0xffffff) : "memory");
    if (at >> 24 != blockIdx.x % 2 || own != x[i] || first != x[i - blockIdx.x % 2 * 32]) __trap();
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
    y[i] = own + first;
}
