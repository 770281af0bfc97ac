// All lanes call __syncwarp with a mask that names half of them.
// fail: E-SYNC-MASK
// launch: swap<<<1, 32>>>(x: f32[32], y: f32[32] uninit)
extern "C" __global__ void swap(const float* x, float* y) {
    __shared__ float tile[32];
    int t = threadIdx.x;
    tile[t] = x[t];
    __syncwarp(0x0000ffff);
    y[t] = tile[t] + 1.0f;
}
