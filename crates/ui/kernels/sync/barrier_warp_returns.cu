// A whole warp with nothing to do stores a zero and returns: nothing of what it does stands behind the barrier.
// pass
// near: sync/barrier_whole_warp
// launch: reverse<<<2, 64>>>(x: f32[96], y: f32[128] zero, n: i32 = 96)
extern "C" __global__ void reverse(const float* x, float* y, int n) {
    __shared__ float tile[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (i >= n) {
        y[i] = 0.0f;
        return;
    }
    tile[t] = x[i];
    __syncthreads();
    y[i] = tile[t];
}
