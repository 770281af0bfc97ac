// The mask names every lane that calls.
// pass
// near: sync/syncwarp_not_named
// launch: swap<<<1, 32>>>(x: f32[32], y: f32[32] uninit)
extern "C" __global__ void swap(const float* x, float* y) {
    __shared__ float tile[32];
    int t = threadIdx.x;
    tile[t] = x[t];
    __syncwarp(0xffffffff);
    y[t] = tile[31 - t];
}
