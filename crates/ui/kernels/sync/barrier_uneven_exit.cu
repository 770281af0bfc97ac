// A loop with a barrier that the second warp leaves one round earlier. It ends then, and a barrier waits only for the
// threads that have not exited: those that are left wait for each other.
// pass
// near: sync/barrier_uneven_loop
// launch: rows<<<1, 64>>>(x: f32[160], y: f32[160] uninit, n: i32 = 160)
extern "C" __global__ void rows(const float* x, float* y, int n) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    for (int i = t; i < n; i += 64) {
        tile[t] = x[i];
        __syncthreads();
        y[i] = tile[t] * 2.0f;
        __syncthreads();
    }
    if (t == 0) y[0] = tile[1];
}
