// Both branches end before the one barrier.
// pass
// near: sync/barrier_two_places
// launch: roles<<<1, 64>>>(x: f32[32], y: f32[32] uninit)
extern "C" __global__ void roles(const float* x, float* y) {
    __shared__ float tile[32];
    int t = threadIdx.x;
    if (t < 32) tile[t] = x[t];
    __syncthreads();
    if (t >= 32) y[t - 32] = tile[63 - t];
}
