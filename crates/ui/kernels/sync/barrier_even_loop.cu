// The loop goes by tiles, so that every thread makes the same rounds.
// pass
// near: sync/barrier_uneven_loop
// launch: rows<<<1, 64>>>(x: f32[160], y: f32[160] uninit, n: i32 = 160)
extern "C" __global__ void rows(const float* x, float* y, int n) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    for (int at = 0; at < n; at += 64) {
        tile[t] = at + t < n ? x[at + t] : 0.0f;
        __syncthreads();
        if (at + t < n) y[at + t] = tile[63 - t];
        __syncthreads();
    }
}
