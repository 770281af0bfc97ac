// A hundred groups of copies under way, and a wait for the oldest thirty before they are read.
// pass
// near: race/async_many_groups_one_late
// launch: gather<<<1, 32>>>(x: f32[3200], y: f32[32] uninit)
__device__ void copy(float* to, const float* from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory");
}
extern "C" __global__ void gather(const float* x, float* y) {
    __shared__ float tile[100][32];
    int t = threadIdx.x;
    for (int k = 0; k < 100; k++) {
        copy(&tile[k][t], &x[32 * k + t]);
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    asm volatile("cp.async.wait_group 70;" ::: "memory");
    y[t] = tile[0][t] + tile[29][t];
}
