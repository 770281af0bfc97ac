// Threads that have ended count as arrived: leaving early is no mistake on today's GPUs.
// pass
// near: sync/barrier_in_tail
// launch: neighbours<<<1, 64>>>(x: f32[32], y: f32[32] uninit, n: i32 = 32)
extern "C" __global__ void neighbours(const float* x, float* y, int n) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    if (t >= n) return;
    tile[t] = x[t];
    __syncthreads();
    y[t] = tile[31 - t];
}
