// A row's sum is shuffled inside of the loop over columns, and the row ends in the middle of a warp.
// fail: E-SYNC-MASK
// launch: sums<<<1, 32>>>(x: f32[80], y: f32[4] zero, cols: i32 = 80)
extern "C" __global__ void sums(const float* x, float* y, int cols) {
    float total = 0.0f;
    for (int c = threadIdx.x; c < cols; c += 32) {
        float v = x[c];
        for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
        total += v;
    }
    if (threadIdx.x == 0) y[0] = total;
}
