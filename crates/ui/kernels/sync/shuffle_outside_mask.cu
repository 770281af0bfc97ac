// Each half of the warp names itself, and the sum's first step reads the other one.
// fail: E-SYNC-MASK
// launch: sums<<<1, 32>>>(x: f32[32], y: f32[2] zero)
extern "C" __global__ void sums(const float* x, float* y) {
    int t = threadIdx.x;
    float v = x[t];
    unsigned half = t < 16 ? 0x0000ffff : 0xffff0000;
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(half, v, d);
    if (t % 16 == 0) y[t / 16] = v;
}
