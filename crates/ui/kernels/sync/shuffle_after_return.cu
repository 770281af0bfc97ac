// Threads past the end return first, and the others take a maximum over the whole warp.
// fail: E-SYNC-MASK
// launch: largest<<<1, 32>>>(x: f32[20], y: f32[1] zero, n: i32 = 20)
extern "C" __global__ void largest(const float* x, float* y, int n) {
    int t = threadIdx.x;
    if (t >= n) return;
    float v = x[t];
    for (int d = 16; d > 0; d /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, d));
    if (t == 0) *y = v;
}
