// A block's address of its own shared memory without the rank is one of the block of rank 0.
// fail: E-CLUSTER-SPACE
// launch: k<<<4, 32>>>(x: i32[128], y: i32[128] uninit)
extern "C" __global__ void __cluster_dims__(2) k(const int* x, int* y) {
    __shared__ int s[32];
    int t = threadIdx.x, i = blockIdx.x * 32 + t, value;
    s[t] = x[i];
    __syncthreads();
    unsigned within = (unsigned)__cvta_generic_to_shared(&s[31 - t]) & 0xffffff;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(within) : "memory");
    y[i] = value;
}
