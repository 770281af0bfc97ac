// The mask names the half that takes part.
// pass
// near: sync/shuffle_half_warp
// launch: sums<<<1, 32>>>(x: f32[32], y: f32[32] zero)
extern "C" __global__ void sums(const float* x, float* y) {
    int t = threadIdx.x;
    float v = x[t];
    if (t < 16) {
        for (int d = 8; d > 0; d /= 2) v += __shfl_down_sync(0x0000ffff, v, d, 16);
        y[t] = v;
    } else {
        y[t] = -v;
    }
}
