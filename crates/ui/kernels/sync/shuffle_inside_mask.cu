// The sum of a half begins at the distance that stays in it.
// pass
// near: sync/shuffle_outside_mask
// launch: sums<<<1, 32>>>(x: f32[32], y: f32[2] zero)
extern "C" __global__ void sums(const float* x, float* y) {
    int t = threadIdx.x;
    float v = x[t];
    unsigned half = t < 16 ? 0x0000ffff : 0xffff0000;
    for (int d = 8; d > 0; d /= 2) v += __shfl_xor_sync(half, v, d);
    if (t % 16 == 0) y[t / 16] = v;
}
