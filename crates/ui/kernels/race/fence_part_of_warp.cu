// Threads beyond `n` write nothing and pass no fence: those that write do, before a barrier, and thread 0 counts behind it.
// pass
// near: race/fence_part_of_warp_missing
// launch: sum<<<4, 64>>>(y: f32[200] uninit, count: u32[1] zero, out: f32[1] uninit, n: i32 = 200)
extern "C" __global__ void sum(float* y, unsigned* count, float* out, int n) {
    __shared__ bool last;
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) {
        y[i] = 2.0f * i;
        __threadfence();
    }
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(count, 1) == gridDim.x - 1;
    __syncthreads();
    if (last && threadIdx.x == 0) {
        __threadfence();
        float total = 0.0f;
        for (int j = 0; j < n; j++) total += y[j];
        *out = total;
    }
}
