// The last lane fills its 16 bytes up with zeros; what another one copies is being written by block 0.
// fail: E-RACE-BLOCKS
// launch: shift<<<2, 32>>>(x: f32[127], y: f32[256] uninit)
__device__ void copy(float* to, const float* from, int bytes) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from), "r"(bytes) : "memory");
}
extern "C" __global__ void shift(float* x, float* y) {
    __shared__ __align__(16) float tile[128];
    int t = threadIdx.x, i = 4 * t;
    if (blockIdx.x == 0 && t == 2) x[9] = 0.0f;
    copy(&tile[i], &x[i], t == 31 ? 12 : 16);
    asm volatile("cp.async.wait_all;" ::: "memory");
    for (int k = 0; k < 4; k++) y[128 * blockIdx.x + i + k] = tile[i + k];
}
