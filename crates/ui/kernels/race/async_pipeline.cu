// cp.async with wait_group and barriers, two stages: the pipeline that works.
// pass
// near: race/async_pipeline_one_late
// launch: stream<<<1, 64>>>(x: f32[512], y: f32[64] uninit, tiles: i32 = 8)
__device__ void copy(float* to, const float* from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory");
}
extern "C" __global__ void stream(const float* x, float* y, int tiles) {
    __shared__ float tile[2][64];
    int t = threadIdx.x;
    float sum = 0.0f;
    copy(&tile[0][t], &x[t]);
    asm volatile("cp.async.commit_group;" ::: "memory");
    for (int k = 0; k < tiles; k++) {
        if (k + 1 < tiles) copy(&tile[(k + 1) & 1][t], &x[64 * (k + 1) + t]);
        asm volatile("cp.async.commit_group;" ::: "memory");
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        sum += tile[k & 1][63 - t];
        __syncthreads();
    }
    y[t] = sum;
}
