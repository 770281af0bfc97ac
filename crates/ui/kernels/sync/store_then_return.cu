// Threads past the end store a zero and return; a warp operation and a barrier do not wait for threads that have exited.
// pass
// near: sync/barrier_in_tail
// launch: fill<<<2, 64>>>(x: f32[100], y: f32[128] uninit, n: i32 = 100)
extern "C" __global__ void fill(const float* x, float* y, int n) {
    __shared__ float tile[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (i >= n) {
        y[i] = 0.0f;
        return;
    }
    tile[t] = x[i];
    __syncwarp();
    unsigned above = __ballot_sync(0xffffffff, tile[t] > 50.0f);
    __syncthreads();
    y[i] = tile[t] + __popc(above);
}
