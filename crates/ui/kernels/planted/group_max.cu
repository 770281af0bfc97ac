// fail: E-SYNC-MASK
// launch: group_max<<<1, 64>>>(x: f32[50], y: f32[2] uninit, n: i32 = 50)
// The maximum of each group of 32 elements; the last group is shorter.
extern "C" __global__ void group_max(const float* x, float* y, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    float most = x[i];
    for (int offset = 16; offset > 0; offset /= 2) most = fmaxf(most, __shfl_down_sync(0xffffffff, most, offset));
    if (i % 32 == 0) y[i / 32] = most;
}
