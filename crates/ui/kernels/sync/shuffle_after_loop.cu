// The loop sums in registers; the warp shuffles once, when all of it is back.
// pass
// near: sync/shuffle_tail_loop
// launch: sums<<<1, 32>>>(x: f32[80], y: f32[4] zero, cols: i32 = 80)
extern "C" __global__ void sums(const float* x, float* y, int cols) {
    float total = 0.0f;
    for (int c = threadIdx.x; c < cols; c += 32) total += x[c];
    for (int d = 16; d > 0; d /= 2) total += __shfl_xor_sync(0xffffffff, total, d);
    if (threadIdx.x == 0) y[0] = total;
}
