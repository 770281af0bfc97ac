// More groups of copies under way than the checks tell apart: what was waited for is still no race.
// pass
// near: race/async_many_groups_one_late
// launch: gather<<<1, 4>>>(x: f32[4000], y: f32[4] uninit)
__device__ void copy(float* to, const float* from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory");
}
extern "C" __global__ void gather(const float* x, float* y) {
    __shared__ float tile[1000][4];
    int t = threadIdx.x;
    for (int k = 0; k < 1000; k++) {
        copy(&tile[k][t], &x[4 * k + t]);
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    asm volatile("cp.async.wait_group 700;" ::: "memory");
    y[t] = tile[0][t] + tile[299][t];
}
