// The block's second warp has 16 threads, and its sum starts at lanes that have none.
// fail: E-SYNC-MASK
// launch: sums<<<1, 48>>>(x: f32[48], y: f32[2] zero)
extern "C" __global__ void sums(const float* x, float* y) {
    float v = x[threadIdx.x];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
    if (threadIdx.x % 32 == 0) y[threadIdx.x / 32] = v;
}
