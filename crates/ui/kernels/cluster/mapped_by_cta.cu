// Where `mapa` leads to, `ld.shared` does not reach, and `ld.shared::cluster` does.
// fail: E-CLUSTER-SPACE
// launch: k<<<4, 32>>>(x: i32[128], y: i32[128] uninit)
extern "C" __global__ void __cluster_dims__(2) k(const int* x, int* y) {
    __shared__ int s[32];
    int t = threadIdx.x, i = blockIdx.x * 32 + t, value;
    s[t] = x[i];
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
    unsigned there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"((unsigned)__cvta_generic_to_shared(&s[t])), "r"(1 - blockIdx.x % 2));
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(there) : "memory");
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
    y[i] = value;
}
