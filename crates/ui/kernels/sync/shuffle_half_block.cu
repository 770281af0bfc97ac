// A block of 16 threads sums with a full mask: lanes from 8 on read where no thread is, and nothing of that reaches lane 0.
// pass
// near: sync/shuffle_last_warp
// launch: sums<<<4, 16>>>(x: f32[64], y: f32[4] zero)
extern "C" __global__ void sums(const float* x, float* y) {
    float v = x[blockIdx.x * blockDim.x + threadIdx.x];
    for (int d = 8; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
    if (threadIdx.x == 0) y[blockIdx.x] = v;
}
