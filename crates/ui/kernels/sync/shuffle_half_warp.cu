// Half of a warp shuffles with a mask that names all of it, and the other half goes around to the store behind.
// fail: E-SYNC-MASK
// launch: sums<<<1, 32>>>(x: f32[32], y: f32[32] zero)
extern "C" __global__ void sums(const float* x, float* y) {
    int t = threadIdx.x;
    float v = x[t];
    if (t < 16) {
        for (int d = 8; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d, 16);
    }
    y[t] = v;
}
