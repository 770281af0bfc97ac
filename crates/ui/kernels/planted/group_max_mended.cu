// pass
// near: planted/group_max
// launch: group_max<<<1, 64>>>(x: f32[50], y: f32[2] uninit, n: i32 = 50)
// The maximum of each group of 32 elements; the last group is shorter.
// All lanes shuffle; those past the end bring the last element again.
extern "C" __global__ void group_max(const float* x, float* y, int n) {
    int i = threadIdx.x;
    float most = x[min(i, n - 1)];
    for (int offset = 16; offset > 0; offset /= 2) most = fmaxf(most, __shfl_down_sync(0xffffffff, most, offset));
    if (i < n && i % 32 == 0) y[i / 32] = most;
}
